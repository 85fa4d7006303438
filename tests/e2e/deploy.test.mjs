// Models and GPUs of the wide catalogue, engines of several GPUs, and their memory.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch } from "./browser.mjs";
import {
  answer,
  choose,
  control,
  linkWith,
  noComplaints,
  open,
  plain,
  settled,
  type,
  unfold,
} from "./page.mjs";

const RUNS = 4;
const SMALL = `sim.requests=800&sim.replications=${RUNS}`;
const LARGE = `v=1&model=llama-3.3-70b&gpu=h100-sxm&rate=20&tpot=60ms&${SMALL}`;
const LATE = /_late\.wasm$/;

let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

const button = (page, id) => page.locator(`#control-${id} .picker-button`);
const rows = (page, id) => page.locator(`#${id}-list [role=option]`);
const gpusEach = (page, gpus) =>
  page.locator("#control-tp label", { hasText: new RegExp(`^${gpus}$`) });

/** How the memory bar shares a GPU out: the GiB of each part. */
const memory = async (page) => {
  const parts = await page.locator(".memory-row").evaluateAll((all) =>
    all.map((row) => [...row.querySelectorAll("span")].slice(1).map((cell) => cell.textContent)),
  );
  const [, total] = /([\d.]+) GiB on each GPU/.exec(
    plain(await page.locator(".memory-total").textContent()),
  );
  const sizes = parts.map(([name, size]) => {
    const [, number, unit] = /([\d.]+) (GiB|MiB)/.exec(plain(size));
    return [name, Number(number) / (unit === "MiB" ? 1024 : 1)];
  });
  return { total: Number(total), parts: Object.fromEntries(sizes) };
};

test("a picker finds a model beyond the short list, and says how many GPUs it needs", async () => {
  const { context, page, complaints } = await open(browser, `v=1&rate=20&${SMALL}`, { runs: RUNS });
  await button(page, "model").click();
  await page.waitForFunction(() => document.querySelectorAll("#model-list [role=option]").length > 100);
  await page.keyboard.type("llama 3.3 70b");
  const first = rows(page, "model").first();
  // What fits is said a few rows at a time.
  await first.locator(".picker-fits", { hasText: /./ }).waitFor();
  const row = plain(await first.textContent());
  const [, needed] = /^Llama-3.3-70B-Instruct ?needs (\d+) GPUs/.exec(row) ?? assert.fail(row);
  await page.keyboard.press("Enter");
  await linkWith(page, "model=llama-3.3-70b");
  await settled(page, RUNS);
  const refused = await answer(page);
  assert.equal(refused.hero, "Does not fit");
  assert.equal(plain(refused.remedies[0][0]), `GPUs per engine ${needed}`);
  await page.locator(".answer .remedy button").first().click();
  await linkWith(page, `deploy.tp=${needed}`);
  await settled(page, RUNS);
  // It fits, and leaves little room; twice as many GPUs leave enough.
  await gpusEach(page, 2 * needed).click();
  await linkWith(page, `deploy.tp=${2 * needed}`);
  await settled(page, RUNS);
  const said = await answer(page);
  const each = 2 * needed;
  assert.equal(Number(said.hero.split("–")[0]) % each, 0, `${said.hero} GPUs in engines of ${each}`);
  assert.match(said.facts[3][1], /^\d+( to \d+)? GPUs$/);
  assert.equal(Number(/\d+/.exec(said.facts[3][1])[0]) % each, 0, said.facts[3][1]);
  assert.match(plain(await page.locator(".knee").textContent()), new RegExp(`one engine of ${each} GPUs`));
  noComplaints(complaints);
  await context.close();
});

test("engines are spread by a choice, and one GPU leaves the link as it was", async () => {
  const { context, page, complaints } = await open(browser, `v=1&rate=100&${SMALL}`, { runs: RUNS });
  const alone = await answer(page);
  await gpusEach(page, 2).click();
  await linkWith(page, "deploy.tp=2");
  await settled(page, RUNS);
  const two = await answer(page);
  assert.notDeepEqual(two.facts, alone.facts);
  await gpusEach(page, 1).click();
  await page.waitForFunction(() => !location.hash.includes("deploy"));
  await settled(page, RUNS);
  assert.deepEqual(await answer(page), alone);
  noComplaints(complaints);
  await context.close();
});

test("a link to a deployment waits for what it is computed from, and a reload keeps it", async () => {
  const { context, page, complaints } = await open(browser, `${LARGE}&deploy.tp=4`, { runs: RUNS });
  const said = await answer(page);
  assert.match(said.headline, /^H100 GPUs/);
  assert.match(said.gauge[0], /per engine$/);
  await page.reload();
  await settled(page, RUNS);
  assert.deepEqual(await answer(page), said);
  // And back from a scenario without it.
  await page.evaluate(() => {
    location.hash = "#v=1&rate=40&sim.requests=800&sim.replications=4";
  });
  await settled(page, RUNS);
  await page.goBack();
  await page.waitForFunction(() => location.hash.includes("deploy.tp=4"));
  await settled(page, RUNS);
  assert.deepEqual((await answer(page)).facts, said.facts);
  noComplaints(complaints);
  await context.close();
});

test("without it the page says so, keeps working, and takes the link once it is there", async () => {
  const prepare = (page) => page.route(LATE, (route) => route.abort());
  const { context, page } = await open(browser, `${LARGE}&deploy.tp=4`, { runs: RUNS, prepare });
  const said = await answer(page);
  assert.match(said.hero, /No answer|Does not fit/);
  assert.match(said.paragraph, /did not load.*Load the page again/);
  await page.unroute(LATE);
  await page.reload();
  await settled(page, RUNS);
  assert.match((await answer(page)).headline, /^H100 GPUs/);
  await context.close();
});

test("memory is shared out in parts that add up, by rule of thumb and as vLLM does", async () => {
  const { context, page, complaints } = await open(browser, `v=1&rate=100&${SMALL}`, { runs: RUNS });
  const fold = await unfold(page, "Memory");
  await page.locator(".memory-row").first().waitFor();
  assert.match(plain(await fold.textContent()), /rule of thumb/);
  const addsUp = ({ total, parts }) => {
    const sum = Object.values(parts).reduce((all, part) => all + part, 0);
    assert.ok(Math.abs(sum - total) < 0.2, `${sum} of ${total}`);
  };
  const thumb = await memory(page);
  addsUp(thumb);
  assert.ok(Math.abs(thumb.parts.Weights - 14.2) < 0.1, JSON.stringify(thumb));

  await choose(page, "engine-version", "vLLM 0.19");
  await linkWith(page, "engine=vllm-0.19");
  await settled(page, RUNS);
  assert.match(plain(await fold.textContent()), /vLLM 0.19/);
  addsUp(await memory(page));
  await choose(page, "weights", "FP8");
  await linkWith(page, "weights=fp8");
  const light = await memory(page);
  addsUp(light);
  assert.ok(light.parts.Weights < 0.7 * thumb.parts.Weights, JSON.stringify(light));
  await choose(page, "kv-dtype", "FP8");
  await linkWith(page, "kv_dtype=fp8");
  // What an engine logged takes the place of what is computed; nonsense is refused by name.
  await type(page, "blocks", "20000");
  await linkWith(page, "kv.num_gpu_blocks=20000");
  assert.equal(await control(page, "kv").field.getAttribute("placeholder"), "320,000");
  await type(page, "blocks", "many");
  const message = plain(await control(page, "blocks").message.textContent());
  assert.match(message, /“many” is not .*“KV cache blocks”/);
  await settled(page, RUNS);
  noComplaints(complaints);
  await context.close();
});
