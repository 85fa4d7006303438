// The address bar always holds a link that reproduces the page, and no link can break it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, siteUrl } from "./browser.mjs";
import {
  answer,
  control,
  kneeTable,
  linkWith,
  noComplaints,
  open,
  PATIENCE_MS,
  plain,
  settled,
  type,
} from "./page.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

/** Every number that the page shows about its scenario. */
async function numbers(page) {
  // The fields of a group are there once it has been opened.
  const folded = page.locator(".fold-button[aria-expanded=false]");
  while ((await folded.count()) > 0) await folded.first().click();
  await page.waitForFunction(() => document.querySelectorAll(".fold-rows").length === 6);
  const said = await answer(page);
  const fields = await page
    .locator(".control input[type=text]")
    .evaluateAll((all) => all.map((field) => `${field.id} ${field.value}`));
  return { said, fields, knee: await kneeTable(page) };
}

test("the link reproduces the page, in another browser and after a reload", async () => {
  const { context, page, complaints } = await open(browser);
  await type(page, "rate", "37");
  await type(page, "in", "1500");
  await type(page, "out", "199");
  await type(page, "ttft", "750ms");
  await type(page, "tpot", "33.5");
  await type(page, "headroom", "17");
  await type(page, "budget", "4096");
  await type(page, "seqs", "200");
  await page.locator(".fold-button", { hasText: "Arrivals" }).click();
  const pick = (id, name) => page.locator(`#control-${id} label`, { hasText: name }).click();
  await pick("pattern", "Bursty");
  await page.locator(".fold-button", { hasText: "Lengths" }).click();
  await page.locator("#control-out-lengths select").selectOption("lognormal");
  await pick("share", "95");
  await page.locator(".fold-button", { hasText: "Accuracy" }).click();
  await type(page, "mfu", "0.47");
  await type(page, "runs", "5");
  await type(page, "seed", "18446744073709551615");
  const link = await linkWith(page, "seed=18446744073709551615");
  await settled(page, 5);
  const here = await numbers(page);
  assert.match(here.said.headline, /37 req\/s/);

  const elsewhere = await open(browser, link, { runs: 5 });
  assert.deepEqual(await numbers(elsewhere.page), here);
  assert.equal(await elsewhere.page.locator(".notice").count(), 0);
  assert.equal(await elsewhere.page.evaluate(() => location.hash.slice(1)), link);
  noComplaints(elsewhere.complaints);
  await elsewhere.context.close();

  await page.reload();
  await settled(page, 5);
  assert.deepEqual(await numbers(page), here);
  noComplaints(complaints);
  await context.close();
});

test("the address is up to date while a slider is still held", async () => {
  const { context, page, complaints } = await open(browser);
  const { slider, field } = control(page, "rate");
  const box = await slider.boundingBox();
  const length = await page.evaluate(() => history.length);
  await page.mouse.move(box.x + box.width * 0.6, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.4, box.y + box.height / 2, { steps: 8 });
  const held = (await field.inputValue()).replaceAll(",", "");
  await linkWith(page, `rate=${held}`);
  assert.equal(await page.evaluate(() => history.length), length, "an entry for each step of a drag");
  await page.mouse.up();
  await page.waitForFunction((before) => history.length === before + 1, length);
  await settled(page);
  noComplaints(complaints);
  await context.close();
});

test("back and forward restore the settings and say what changed", async () => {
  const { context, page, complaints } = await open(browser);
  const rate = control(page, "rate").field;
  for (const value of ["150", "60"]) {
    const before = await page.evaluate(() => history.length);
    await type(page, "rate", value);
    await page.waitForFunction((length) => history.length > length, before);
  }
  await settled(page);
  const last = await answer(page);
  const rateBecomes = (value) =>
    page.waitForFunction((wanted) => document.getElementById("field-rate").value === wanted, value);
  await page.goBack();
  await rateBecomes("150");
  assert.match(plain(await page.locator(".toast").textContent()), /60 req\/s → 150 req\/s/);
  await page.goBack();
  await rateBecomes("100");
  await settled(page);
  assert.equal((await answer(page)).hero, "6");
  await page.goForward();
  await rateBecomes("150");
  await page.goForward();
  await rateBecomes("60");
  assert.equal(await rate.inputValue(), "60");
  await settled(page);
  assert.deepEqual(await answer(page), last);
  noComplaints(complaints);
  await context.close();
});

test("what was typed and not finished outlives a reload, and is not taken in by it", async () => {
  const { context, page, complaints } = await open(browser);
  const { field, message } = control(page, "rate");
  await field.focus();
  await field.fill("25");
  await page.waitForFunction(() => (history.state ?? "").includes("25"));
  const link = await page.evaluate(() => location.hash);
  for (const [how, rate] of [["Escape", "100"], ["Enter", "25"]]) {
    await page.reload();
    await settled(page);
    assert.equal(await field.inputValue(), "25");
    assert.match(plain(await message.textContent()), /not in force: Enter takes it, .*Still using 100\./);
    assert.equal(await page.evaluate(() => location.hash), link, "the address tells of it");
    assert.match((await answer(page)).headline, /100 req\/s/);
    // To look at it, and to leave it, is not to finish it.
    await field.focus();
    await page.locator("#answer").focus();
    assert.match((await answer(page)).headline, /100 req\/s/);
    if (how === "Enter") {
      await field.press(how);
    } else {
      await field.press(how);
      await field.fill("25");
      await page.waitForFunction(() => (history.state ?? "").includes("25"));
      continue;
    }
    await linkWith(page, "rate=25");
    assert.equal(await message.count(), 0, rate);
  }
  await settled(page);
  assert.match((await answer(page)).headline, /25 req\/s/);
  await page.reload();
  await settled(page);
  assert.equal(await message.count(), 0, "it is told of after it was taken in");
  noComplaints(complaints);
  await context.close();
});

test("what only the command line computes is named, with the command", async () => {
  const link = "v=1&rate=40&step.kind=kernel";
  const { context, page, complaints } = await open(browser, link);
  const said = plain((await answer(page)).paragraph);
  assert.match(said, /^Only the command line computes step\.kind=kernel\. Run there: headroom plan '/);
  const command = /headroom plan '([^']+)'/.exec(said)[1];
  assert.equal(command, await page.evaluate(() => location.hash.slice(1)), "the link of the page");
  noComplaints(complaints);
  await context.close();
});

test("a link typed into the address bar of the open page is taken", async () => {
  const { context, page, complaints } = await open(browser);
  await page.evaluate(() => {
    location.hash = "v=1&rate=55&nonsense=1";
  });
  await page.waitForFunction(() => document.getElementById("field-rate").value === "55");
  await page.locator(".notice").waitFor();
  await settled(page);
  assert.match((await answer(page)).headline, /55 req\/s/);
  noComplaints(complaints);
  await context.close();
});

/** A link, what its notices say in order, and what the rate is then. */
const ODD = [
  ["v=1&foo=3", [/Unknown key “foo”\. It is not used/], "100"],
  ["v=1&rate=99999", [/Request rate 99999: Most we simulate is 10,000 req\/s\. Using 10,000/], "10,000"],
  ["v=1&rate=-4", [/Request rate -4: Least we simulate is 0\.1 req\/s\. Using 0\.1/], "0.1"],
  ["v=1&rate=NaN", [/“NaN” is not a request rate\..* for example 100 or 1\.5k\. Still using 100/], "100"],
  ["v=1&rate=5ms", [/“5ms” is not a request rate; write req\/s\..* Still using 100/], "100"],
  ["v=1&rate=1e999", [/“1e999” is too large for a request rate\..* Still using 100/], "100"],
  ["v=1&rate=", [/no value\. For “Request rate” give for example 100/], "100"],
  ["v=1&rate", [/“rate” has no “=” and no value\. For “Request rate”/], "100"],
  ["v=1&ttft=3GB", [/“3GB” is not a time; write ms or s\. For “TTFT at most”.* Still using/], "100"],
  ["v=1&model=qwn&rate=20", [/No model called “qwn”\..* Still using qwen2\.5-7b/], "20"],
  ["v=1&gpu=", [/GPU/], "100"],
  ["v=9&rate=20", [/from a newer version: 9/], "20"],
  ["v=1&rate=4&rate=20", [/“rate” is given more than once\. The last one counts: “20”/], "20"],
  ["v=1&in=lognormal(1,2,3&rate=20", [/“lognormal\(1,2,3” .*For “Prompt”.* Still using 1,024/], "20"],
  ["v=1&seed=-1&rate=20", [/Seed -1: Least we simulate is 0\. Using 0/], "20"],
  ["v=1&sched.max_num_seqs=1.5&rate=20", [/Max sequences.* whole number from 1 to .*Using 2/], "20"],
  [
    "v=1&share=200&ttft=2m&tpot=1e400&rate=20",
    [/Must hold for 200: Most we simulate is 99\.99 %/, /“2m” is not a time.*TTFT/, /“1e400” is too large.*TPOT/],
    "20",
  ],
  ["%E0%A4%A&&&=&rate=20", [/Unknown key/, /has no key\. Write for example rate=100/], "20"],
  ["v=1&rate=20&x=%3Cimg%20src=x%20onerror=alert(1)%3E", [/Unknown key “x”/], "20"],
  ["", [], "100"],
  ["&&&", [], "100"],
  ["v=1&rate=1.5k", [], "1,500"],
  ["v=1&amp;rate=20", [], "20"],
  ["https://example.org/headroom/#v=1&rate=20", [], "20"],
];

test("a link may bring another scenario and another view at once, and so may the way back", async () => {
  const { context, page, complaints } = await open(browser, "v=1&rate=40");
  for (const link of [
    "v=1&rate=60&view=know",
    "v=1&rate=30&view=fleet&fleet.duration=300",
    "v=1&rate=50",
    "v=1&rate=20&view=fleet&fleet.duration=300",
    "v=1&rate=70&view=know",
    "v=1&rate=40&in=2000",
  ]) {
    await page.evaluate((hash) => {
      location.hash = hash;
    }, link);
    const view = link.match(/view=(\w+)/)?.[1] ?? "plan";
    await page.locator(`.page[data-view=${view}]`).waitFor();
    // A frame that was asked for before may still come.
    await page.waitForTimeout(300);
  }
  await settled(page);
  for (let step = 0; step < 4; step += 1) {
    await page.goBack();
    await page.waitForTimeout(300);
  }
  assert.equal(await page.locator(".page").getAttribute("data-view"), "fleet");
  assert.equal(await page.locator(".fatal:not([hidden])").count(), 0);
  noComplaints(complaints);
  await context.close();
});

test("odd links: each departure is named with its field, its value and a remedy", async () => {
  const { context, page, complaints } = await open(browser, "v=1&rate=33");
  for (const [link, expected, rate] of ODD) {
    // A page of its own for each, without the cost of a new browser window.
    await page.goto("about:blank");
    await page.goto(`${siteUrl}#${link}`);
    await page.locator("#field-rate").waitFor();
    const notices = page.locator(".notice");
    if (expected.length === 0) {
      assert.equal(await notices.count(), 0, `${link} brought a notice`);
    } else {
      await notices.waitFor();
      await notices.getByRole("button", { name: "Show" }).click();
      const lines = (await notices.locator("li").allTextContents()).map(plain);
      assert.equal(lines.length, expected.length, `${link}: ${lines.join(" | ")}`);
      expected.forEach((pattern, index) => assert.match(lines[index], pattern, link));
    }
    assert.equal(await control(page, "rate").field.inputValue(), rate, link);
    // Nothing of it stays in the address bar but what is in force.
    const hash = await page.evaluate(() => location.hash);
    assert.match(hash, /^#v=1&rev=\d+/, link);
    assert.doesNotMatch(hash, /foo|NaN|nonsense|99999|example\.org|%/, link);
    noComplaints(complaints);
  }
  await settled(page);
  await context.close();
});

test("a long and hostile link neither hangs nor panics", async () => {
  const many = Array.from({ length: 2_000 }, (_, n) => `k${n}=${"9".repeat(n % 400)}`).join("&");
  const { context, page, complaints } = await open(browser, `v=1&rate=20&${many}`);
  assert.match((await answer(page)).headline, /20 req\/s/);
  assert.match(plain(await page.locator(".notice p").textContent()), /^2,000 parts/);
  assert.ok(await page.locator("#fatal").isHidden());
  noComplaints(complaints);
  await context.close();
});

test("the extremes of every setting bring an answer or a reason, never a crash", async () => {
  const extremes = [
    "rate=0.1&in=0&out=1",
    "rate=10000&in=10000000&out=1000000",
    "in=16&out=16384&sched.max_num_seqs=1",
    "sched.max_num_batched_tokens=1&sim.requests=10",
    "sched.max_num_seqs=65536&sched.max_num_batched_tokens=1048576",
    "ttft=1ms&tpot=0.1ms&share=99.99",
    "ttft=600000ms&tpot=60000ms&share=50&headroom=0",
    "arrivals=gamma(0.01)&sim.replications=1",
    "in=lognormal(1024,5)&out=lognormal(256,5)&sim.requests=50",
    "step.kind=affine&step.fixed_s=0&step.per_item_s=0",
    "step.overhead_s=10&step.mfu=0.01",
    "kv.capacity_tokens=1000000000000&seed=18446744073709551615",
  ];
  for (const extreme of extremes) {
    const { context, page, complaints } = await open(browser, "v=1&sim.requests=100");
    await page.evaluate((link) => {
      location.hash = link;
    }, `v=1&sim.requests=100&${extreme}`);
    await page.waitForFunction(
      () => {
        const hero = document.querySelector(".answer .hero").textContent;
        const runs = document.querySelector(".answer .progress").dataset.on === "true";
        return hero !== "" && !runs;
      },
      undefined,
      { timeout: PATIENCE_MS },
    );
    const said = await answer(page);
    const shown = JSON.stringify(said);
    assert.doesNotMatch(shown, /NaN|inf\b|∞|undefined|null/, extreme);
    assert.doesNotMatch(said.pill, /Stopped/, `${extreme}: ${said.paragraph}`);
    assert.ok(await page.locator("#fatal").isHidden(), extreme);
    noComplaints(complaints);
    await context.close();
  }
});
