// What is asked beside the plan: cost, what holds it back, alternatives, what would change it, and
// demand in other words than a rate. All of it says what the command line says.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { launch } from "./browser.mjs";
import { control, linkWith, noComplaints, open, PATIENCE_MS, plain, settled, type } from "./page.mjs";

const { source } = createRequire(import.meta.url)("axe-core");
/** Small runs: the questions need many. */
const SMALL = "v=1&sim.requests=200&sim.replications=2";
const RUNS = { runs: 2 };

let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

/** What the command line says to these words. */
function native(command, ...words) {
  const args = [command, ...words];
  return plain(execFileSync(process.env.HEADROOM_CLI, args, { encoding: "utf8" }));
}

const panel = (page, id) => page.locator(`.decision[data-kind="${id}"]`);

/** Opens a panel and waits until its question is answered. */
async function answered(page, id) {
  const found = panel(page, id);
  await found.locator(".ledger-button").click();
  await found.locator(".words li").first().waitFor();
  await page.waitForFunction(
    (kind) => {
      const card = document.querySelector(`.decision[data-kind="${kind}"]`);
      const far = card.querySelector(".decision-far").textContent;
      return card.querySelector(".progress").dataset.on === "false" && far === "";
    },
    id,
    { timeout: 2 * PATIENCE_MS },
  );
  return found;
}

const sentences = async (found) =>
  (await found.locator(".decision-told > div > .words").first().locator("li").allTextContents()).map(plain);

const figures = async (page) =>
  (await page.locator(".cost-value").allTextContents()).map(plain);

test("the cost is the command line's, its price can be given, and the link keeps it", async () => {
  const { page, complaints } = await open(browser, SMALL, RUNS);
  await page.locator(".cost-figures:not(.stale)").waitFor();
  const told = native("plan", `#${SMALL}`);
  const [hour, month, answers, prompts] = await figures(page);
  assert.ok(told.includes(`About ${hour} (`), `${hour} in ${told}`);
  assert.ok(told.includes(`an hour, ${month} (`), `${month} in ${told}`);
  for (const amount of [answers, prompts]) assert.ok(told.includes(`${amount} (`), amount);
  assert.match(await page.locator(".cost .panel-sub").textContent(), /assumed/);

  const price = page.locator("#field-price");
  await price.fill("4..2");
  await price.press("Enter");
  assert.match(plain(await page.locator("#field-price-said").textContent()), /lower price comes first/i);
  assert.deepEqual(await figures(page), [hour, month, answers, prompts], "nothing changes");
  await price.fill("$2.00..4.5");
  await price.press("Enter");
  await linkWith(page, "price=2..4.5");
  const load = page.locator("#field-utilisation");
  await load.fill("40%");
  await load.press("Enter");
  const link = await linkWith(page, "utilisation=0.4");
  const given = native("plan", `#${link}`);
  const shown = await figures(page);
  const range = plain(await page.locator(".cost-range").first().textContent());
  assert.ok(given.includes(`About ${shown[0]} (${range}) an hour`), `${shown[0]} in ${given}`);
  assert.ok(given.includes(`${shown[2]} (`), `${shown[2]} in ${given}`);

  // Somebody else opens the link.
  const fresh = await open(browser, link, RUNS);
  await fresh.page.locator(".cost-figures:not(.stale)").waitFor();
  assert.deepEqual(await figures(fresh.page), shown);
  assert.equal(await fresh.page.locator("#field-price").inputValue(), "2..4.5");
  assert.equal(await fresh.page.locator(".notice-line").count(), 0, "no key is unknown");
  noComplaints(fresh.complaints);

  // The way back takes the price away, too.
  await page.goBack();
  await page.goBack();
  await page.waitForFunction(() => !location.hash.includes("price="));
  assert.deepEqual(await figures(page), [hour, month, answers, prompts]);
  noComplaints(complaints);
});

test("what holds the plan back is what the command line says", async () => {
  const { page, complaints } = await open(browser, SMALL, RUNS);
  const found = await answered(page, "why");
  const told = native("why", `#${SMALL}`);
  for (const sentence of await sentences(found)) assert.ok(told.includes(sentence), sentence);
  const bars = found.locator(".strip");
  assert.ok((await bars.count()) >= 6);
  assert.equal(await found.locator('.strip[data-main="true"]').count(), 1, "one thing binds");
  const width = (bar) => bar.locator(".strip-span").evaluate((e) => e.getBoundingClientRect().width);
  assert.ok((await width(bars.first())) > 5 * (await width(bars.last())), "sorted by gain");
  await found.locator("summary").click();
  assert.equal(await found.locator("tbody tr").count(), await bars.count());
  noComplaints(complaints);
});

test("a question gives way to a slider, is dimmed by another scenario, and can be stopped", async () => {
  const { page, complaints } = await open(browser, "v=1&sim.requests=3000", {});
  const found = panel(page, "why");
  await found.locator(".ledger-button").click();
  const stop = found.locator(".decision-status button", { hasText: "Cancel" });
  await stop.waitFor();
  // The plan comes first, and the question begins anew.
  await type(page, "rate", "50");
  await settled(page);
  await stop.waitFor();
  await stop.click();
  assert.match(await found.locator(".decision-far").textContent(), /Stopped/);
  assert.equal(await found.locator(".progress").getAttribute("data-on"), "false");
  await found.locator(".decision-status button", { hasText: "Run again" }).click();
  await stop.waitFor();
  // Closed, it is not asked any more.
  await found.locator(".ledger-button").click();
  assert.equal(await found.locator(".progress").getAttribute("data-on"), "false");
  noComplaints(complaints);
});

test("alternatives come in rows, and one of them can be put in force and undone", async () => {
  const { page, complaints } = await open(browser, `${SMALL}&rate=20`, RUNS);
  const found = panel(page, "alternatives");
  // What comes first may be replaced before anybody looks.
  await page.evaluate(() => {
    window.bases = [];
    const look = () => {
      const row = document.querySelector('.decision[data-kind="alternatives"] tbody tr');
      if (row) window.bases.push(row.dataset.basis);
    };
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
  });
  await found.locator(".ledger-button").click();
  await found.locator('tr[data-basis="simulated"]').first().waitFor();
  await found.locator(".alternatives-tuned").waitFor({ timeout: 2 * PATIENCE_MS });
  const bases = await page.evaluate(() => [window.bases[0], window.bases.at(-1)]);
  assert.deepEqual(bases, ["bounded", "simulated"], "bounds are there first, and say so");
  const told = native("alternatives", `#${SMALL}&rate=20`);
  const headline = (await sentences(found))[0];
  assert.ok(told.includes(headline), headline);
  const first = (await found.locator("tbody tr").first().locator("td").allTextContents()).map(plain);
  for (const cell of first.slice(0, -1)) assert.ok(told.includes(cell), cell);

  // The chart's cursor is a slider.
  const cursor = found.locator(".costs-cursor");
  const read = () => cursor.getAttribute("aria-valuetext");
  const before = await read();
  assert.match(before, /an hour \(.*P99 end to end/);
  await cursor.focus();
  await page.keyboard.press("ArrowRight");
  assert.notEqual(await read(), before);
  assert.equal(await found.locator(".costs-read").textContent(), await read());

  const shown = await found.locator("tbody tr").count();
  await found.locator(".alternatives-more").click();
  assert.ok((await found.locator("tbody tr").count()) > shown);

  const hero = await page.locator(".answer .hero").textContent();
  await found.locator("tbody tr").first().locator("button").click();
  await settled(page, 2);
  assert.match(await page.evaluate(() => location.hash), /deploy\.tp=/);
  await page.keyboard.press("Control+z");
  await settled(page, 2);
  assert.equal(await page.locator(".answer .hero").textContent(), hero);
  noComplaints(complaints);
});

test("the cheapest that runs a model which does not fit is found", async () => {
  const { page, complaints } = await open(browser, `${SMALL}&model=llama-3.1-70b&rate=5`, RUNS);
  const found = panel(page, "alternatives");
  await found.locator(".ledger-button").click();
  await found.locator('tr[data-basis="simulated"]').first().waitFor({ timeout: 2 * PATIENCE_MS });
  await found.locator("tbody tr").first().locator("button").click();
  await settled(page, 2);
  assert.match(await page.locator(".answer .hero").textContent(), /^\d/);
  noComplaints(complaints);
});

test("what would change the answer is what the command line says", async () => {
  const few = "v=1&sim.requests=100&sim.replications=1";
  const { page, complaints } = await open(browser, few, { runs: 1 });
  const found = await answered(page, "tornado");
  const told = native("tornado", `#${few}`);
  for (const sentence of await sentences(found)) assert.ok(told.includes(sentence), sentence);
  assert.ok((await found.locator(".strip").count()) >= 5);
  await found.locator("summary").click();
  for (const row of await found.locator("tbody tr").all()) {
    for (const cell of await row.locator("th, td").allTextContents()) {
      assert.ok(told.includes(plain(cell)), cell);
    }
  }
  noComplaints(complaints);
});

test("demand is users, tokens a day or a job, and becomes what the command line makes of it", async () => {
  const { page, complaints } = await open(browser, SMALL, RUNS);
  const form = page.locator("#demand-form");
  const field = page.locator(".demand-field input");
  await form.selectOption({ label: "Tokens per day" });
  await field.fill("many tokens/day");
  await field.press("Enter");
  assert.match(plain(await page.locator("#demand-said").textContent()), /demand=many tokens\/day.*50M/);
  await field.fill("110.592M tokens/day");
  await field.press("Enter");
  await linkWith(page, "rate=1&");
  assert.equal(plain(await page.locator("#demand-said").textContent()), "Taken in as 1 req/s.");

  await form.selectOption({ label: "Users who think" });
  await field.fill("300 users, 30s");
  await field.press("Enter");
  await linkWith(page, "arrivals=closed(300,30s)");
  await page.keyboard.press("Control+z");
  await control(page, "rate").field.waitFor();

  await form.selectOption({ label: "A job with an end" });
  await field.fill("120k documents in 8h");
  await field.press("Enter");
  const link = await linkWith(page, "demand=120k documents in 8h");
  const said = page.locator(".demand-answer li");
  await said.first().waitFor({ timeout: 2 * PATIENCE_MS });
  const told = native("plan", `#${link}`);
  for (const sentence of await said.allTextContents()) assert.ok(told.includes(plain(sentence)), sentence);

  const fresh = await open(browser, link, RUNS);
  await fresh.page.locator(".demand-answer li").first().waitFor({ timeout: 2 * PATIENCE_MS });
  assert.equal(await fresh.page.locator(".demand-field input").inputValue(), "120k documents in 8h");
  noComplaints(complaints);
  noComplaints(fresh.complaints);
});

test("axe finds nothing, on a desk and on a phone, in the light and in the dark", async () => {
  for (const [viewport, colorScheme] of [
    [{ width: 1440, height: 900 }, "light"],
    [{ width: 390, height: 844 }, "dark"],
  ]) {
    const few = "v=1&sim.requests=100&sim.replications=1";
    const { page, complaints } = await open(browser, few, { runs: 1, viewport, colorScheme });
    await answered(page, "why");
    await answered(page, "tornado");
    await page.evaluate(source);
    const found = await page.evaluate(async () => {
      const { violations } = await window.axe.run(document.querySelector(".decisions"));
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map((n) => n.html).join(" ")}`);
    });
    assert.deepEqual(found, []);
    const { documentElement: root } = { documentElement: await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]) };
    assert.ok(root[0] <= root[1], `the page scrolls sideways: ${root}`);
    noComplaints(complaints);
  }
});
