// Compare: pin, change, and see both under the same users; what it says is what the command line says,
// and a link brings all of it again.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { launch, open as openAddress } from "./browser.mjs";
import { linkWith, noComplaints, open, PATIENCE_MS, plain, type } from "./page.mjs";

const { source } = createRequire(import.meta.url)("axe-core");
const DESK = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };
// Small runs, so that a busy machine is done with them soon.
const SMALL = "sim.requests=400&sim.replications=4";

let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

/** Opens the view by its link. */
async function openCompare(settings, options = {}) {
  const shape = { viewport: DESK, ...options };
  const opened = await openAddress(browser, `#v=1&view=compare${settings}`, shape);
  opened.page.setDefaultTimeout(PATIENCE_MS);
  return opened;
}

/** Waits until both are compared. */
async function compared(page) {
  await page.waitForFunction(
    () => {
      const told = document.querySelector(".compare-difference");
      const rest = !document.querySelector(".difference-status");
      const title = document.querySelector(".difference-title")?.textContent ?? "";
      return told && rest && !told.classList.contains("stale") && !title.includes("…");
    },
    null,
    { timeout: PATIENCE_MS },
  );
}

/** What the view says, with plain spaces. */
async function said(page) {
  const raw = await page.evaluate(() => {
    const text = (selector) => [...document.querySelectorAll(selector)].map((e) => e.textContent);
    const table = (selector) =>
      [...document.querySelectorAll(`${selector} tbody tr`)].map((row) =>
        [...row.querySelectorAll("th, td")].map((cell) => cell.textContent),
      );
    return {
      names: text(".side-name"),
      heroes: text(".side-hero"),
      title: text(".difference-title"),
      lines: text(".difference-line"),
      settings: table(".compare-settings"),
      figures: table(".compare-figures"),
      requests: table(".compare-requests"),
      paired: text(".compare-requests .words"),
    };
  });
  const deep = (value) => (Array.isArray(value) ? value.map(deep) : plain(value));
  return Object.fromEntries(Object.entries(raw).map(([key, value]) => [key, deep(value)]));
}

/** What the command line says of two links. */
function native(first, second) {
  const args = ["compare", "--json", first, "vs", second];
  return JSON.parse(execFileSync(process.env.HEADROOM_CLI, args, { encoding: "utf8" }));
}

const versus = (link) => `&versus=${encodeURIComponent(link)}`;

test("a person pins a plan, changes it, and sees what the command line says", async () => {
  const { context, page, complaints } = await open(browser, `v=1&${SMALL}`, { runs: 4 });
  await page.locator(".bar button", { hasText: "Pin to compare" }).click();
  await linkWith(page, "view=compare");
  await page.locator(".compare-head").waitFor();
  assert.match(await page.locator(".toast").textContent(), /Pinned as A/);
  await compared(page);
  const same = await said(page);
  assert.equal(same.title[0], "A and B are the same");
  assert.equal(same.heroes[0], same.heroes[1]);

  await type(page, "ttft", "300ms");
  await type(page, "budget", "4096");
  await linkWith(page, "max_num_batched_tokens=4096");
  await compared(page);
  const now = await said(page);
  const answer = native(`v=1&${SMALL}`, `v=1&${SMALL}&ttft=300ms&sched.max_num_batched_tokens=4096`);
  assert.deepEqual(now.heroes, [answer.a.hero, answer.b.hero]);
  assert.deepEqual(
    now.settings.map((row) => row.slice(1)),
    answer.differences.map(({ a, b }) => [a, b]),
  );
  const change = answer.capacity_change_share;
  const told = change.low <= 0 && change.high >= 0 ? /cannot tell/ : /An engine of B sustains/;
  assert.match(now.lines[0], told);
  assert.match(now.lines[0], /paired: same users/);
  const changed = answer.requests.most_changed.map(({ index }) => index.toLocaleString("en"));
  assert.deepEqual(now.requests.map((row) => row[0]), changed);
  assert.match(now.paired[0], /Under B/);
  noComplaints(complaints);
  await context.close();
});

test("a link brings both again in another browser, after a reload, and on the way back", async () => {
  const pinned = `v=1&${SMALL}`;
  const { context, page, complaints } = await openCompare(`&${SMALL}&gpu=h200-sxm${versus(pinned)}`);
  await compared(page);
  const here = await said(page);
  assert.match(here.names[0], /H100/);
  assert.match(here.names[1], /H200/);
  assert.match(here.title[0], /^B needs \d+ GPUs? fewer|^Both need/);
  const link = await linkWith(page, "versus=");

  const elsewhere = await openAddress(browser, `#${link}`, { viewport: DESK });
  elsewhere.page.setDefaultTimeout(PATIENCE_MS);
  await compared(elsewhere.page);
  assert.deepEqual(await said(elsewhere.page), here);
  await elsewhere.context.close();

  await page.reload();
  await compared(page);
  assert.deepEqual(await said(page), here);

  // Swap is one step: undone as one, and an entry of the history.
  await page.locator(".side-actions button", { hasText: "Swap" }).click();
  await compared(page);
  const swapped = await said(page);
  assert.match(swapped.names[0], /H200/);
  assert.deepEqual(swapped.heroes, [...here.heroes].reverse());
  await page.goBack();
  await compared(page);
  assert.deepEqual(await said(page), here);
  await page.goForward();
  await compared(page);
  assert.deepEqual(await said(page), swapped);
  await page.locator("body").press("Control+z");
  await compared(page);
  assert.deepEqual(await said(page), here);

  // Unpinned, the view explains itself; undo brings A back.
  await page.locator(".side-actions button", { hasText: "Unpin" }).click();
  await page.locator(".compare-empty").waitFor();
  await page.waitForFunction(() => !location.hash.includes("versus"));
  await page.locator("body").press("Control+z");
  await compared(page);
  assert.deepEqual(await said(page), here);
  noComplaints(complaints);
  await context.close();
});

test("with nothing pinned it offers pairs that run", async () => {
  const { context, page, complaints } = await openCompare(`&${SMALL}`);
  await page.locator(".compare-empty").waitFor();
  const names = await page.locator(".compare-pair-name").allTextContents();
  assert.deepEqual(names.slice(0, 3), [
    "BF16 against FP8 weights",
    "One GPU against two for each engine",
    "H100 against H200",
  ]);
  await page.locator(".compare-pair").first().click();
  await compared(page);
  const now = await said(page);
  assert.deepEqual(now.settings.map((row) => row.slice(1)), [["bf16", "fp8"]]);
  assert.match(now.title[0], /^B needs \d+ GPUs? fewer$/);
  assert.match(now.lines[0], /An engine of B sustains \+?\d/);
  noComplaints(complaints);
  await context.close();
});

test("what is wrong with the pinned part of a link is told with what to do", async () => {
  const { context, page, complaints } = await openCompare(
    `&${SMALL}${versus(`v=1&${SMALL}&rate=many&gpus=3`)}`,
  );
  await compared(page);
  const told = plain(await page.locator(".side-notice").textContent());
  assert.match(told, /not taken as written/);
  assert.match(told, /Pin A again/);
  assert.match(told, /many/);
  assert.equal(await page.locator(".side-notice li").count(), 2);
  noComplaints(complaints);
  await context.close();
});

test("a slider moves B at once while a comparison is under way", async () => {
  const { context, page, complaints } = await openCompare(`&rate=100${versus("v=1")}`);
  await page.locator(".difference-status .pill").waitFor();
  const slider = page.locator("#control-rate input[type=range]");
  await slider.focus();
  const before = await page.locator(".compare-side[data-side=b] .side-name").textContent();
  await slider.press("PageUp");
  // The card says so in the next frames, whatever the second worker does.
  await page.waitForFunction(
    (was) => document.querySelector(".compare-side[data-side=b] .side-name").textContent !== was,
    before,
    { timeout: 1_000 },
  );
  await page.waitForFunction(
    () => /\d/.test(document.querySelector(".compare-side[data-side=b] .side-hero").textContent),
    null,
    { timeout: 5_000 },
  );
  noComplaints(complaints);
  await context.close();
});

test("the chart is read by keyboard and as a table", async () => {
  const { context, page, complaints } = await openCompare(
    `&${SMALL}&sched.max_num_batched_tokens=8192${versus(`v=1&${SMALL}`)}`,
  );
  await compared(page);
  const cursor = page.locator(".compare-knee .plot-cursor");
  await cursor.focus();
  await cursor.press("Home");
  const first = await cursor.getAttribute("aria-valuetext");
  await cursor.press("ArrowRight");
  const second = await cursor.getAttribute("aria-valuetext");
  assert.match(first, /req\/s: A TTFT .* TPOT .*; B TTFT .* TPOT /);
  assert.notEqual(first, second);
  await page.locator(".compare-knee .panel-actions button", { hasText: "Table" }).click();
  const rows = page.locator(".compare-knee tbody tr");
  await rows.first().waitFor();
  const letters = await rows.evaluateAll((all) => all.map((r) => r.querySelector("th").textContent));
  assert.ok(letters.includes("A") && letters.includes("B") && letters.length > 10, letters.join());
  noComplaints(complaints);
  await context.close();
});

for (const [name, viewport, colorScheme] of [
  ["desk", DESK, "light"],
  ["phone", PHONE, "dark"],
]) {
  test(`nothing for axe to complain about, ${name}`, async () => {
    const { context, page, complaints } = await openCompare(
      `&${SMALL}&gpu=h200-sxm${versus(`v=1&${SMALL}`)}`,
      { viewport, colorScheme, bypassCSP: true },
    );
    await compared(page);
    await page.addScriptTag({ content: source });
    const found = await page.evaluate(() => window.axe.run());
    const told = found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).join(" ")}`);
    assert.deepEqual(told, []);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `the page is ${wide} px too wide`);
    noComplaints(complaints);
    await context.close();
  });
}
