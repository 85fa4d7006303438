// Fleet: the numbers are the command line's, a change runs it anew, a cursor goes through all rows, and
// a worker that dies is replaced.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { launch, open as openAddress } from "./browser.mjs";
import { answer, control, linkWith, noComplaints, open, PATIENCE_MS, plain, settled, type } from "./page.mjs";

const { source } = createRequire(import.meta.url)("axe-core");
const AZURE = fileURLToPath(new URL("../golden/traces/azure_2023_conv_first2000.csv.gz", import.meta.url));
const DESK = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };
/** A surge that the autoscaler meets late: ten minutes. */
const SURGE = [
  "rate=40",
  "profile=spike(120s,240s,2)",
  "fleet.duration=600",
  "fleet.min=2",
  "fleet.max=8",
  "fleet.start=120",
];
const LINK = ["v=1&view=fleet", ...SURGE].join("&");

let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

async function openFleet(link = LINK, { prepare, ...options } = {}) {
  const opened = await openAddress(browser, `#${link}`, { viewport: DESK, ...options }, prepare);
  opened.page.setDefaultTimeout(PATIENCE_MS);
  return opened;
}

/** Waits until the answer has its verdict. */
const judged = (page) =>
  page.locator('.answer .pill[data-tone="ok"], .answer .pill[data-tone="bad"]').waitFor();

/** Waits until all policies have been tried. */
const compared = (page) =>
  page.locator(".fleet-policies .panel-sub", { hasText: "one run each" }).waitFor();

/** What the command line finds. */
function native(settings, ...more) {
  const args = ["fleet", ...settings, "--json", ...more];
  const options = { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 };
  return JSON.parse(execFileSync(process.env.HEADROOM_CLI, args, options));
}

/** A number as the page writes it, without its unit, within the digits that are shown. */
function shows(text, value) {
  const [, digits] = plain(text).match(/^(\d[\d,]*(?:\.\d+)?)/) ?? [];
  assert.ok(digits, `“${text}” is no number`);
  const shown = Number(digits.replaceAll(",", ""));
  const decimals = digits.split(".")[1]?.length ?? 0;
  const half = 0.5 * 10 ** -decimals + 1e-9;
  // Three significant digits may end before the point.
  const slack = Math.max(half, shown >= 1000 ? 0.5 * 10 ** (String(Math.trunc(shown)).length - 3) : 0);
  assert.ok(Math.abs(shown - value) <= slack, `“${text}” shows ${shown} for ${value}`);
}

/** A time as the page writes it, in seconds. */
function seconds(text) {
  const units = { h: 3600, min: 60, s: 1, ms: 1e-3 };
  const parts = [...plain(text).matchAll(/([\d.]+) (h|min|s|ms)\b/g)];
  assert.ok(parts.length > 0, `“${text}” is no time`);
  return parts.reduce((sum, [, number, unit]) => sum + Number(number) * units[unit], 0);
}

/** Whether a time shows a value to the digit that is told. */
function showsTime(text, value) {
  const told = seconds(text);
  const slack = value >= 60 ? 0.5 : 0.005 * value;
  assert.ok(Math.abs(told - value) <= slack + 1e-9, `“${text}” for ${value} s`);
}

const late = (run) => (100 * (run.offered - run.slo_met)) / run.offered;

test("the numbers are the command line's", async () => {
  const run = native(SURGE);
  const { context, page, complaints } = await openFleet();
  await judged(page);
  await compared(page);
  const told = await answer(page);
  shows(told.hero, late(run));
  assert.equal(told.headline, "requests late");
  const count = (n) => n.toLocaleString("en-GB");
  assert.equal(told.qualifier, `${count(run.offered - run.slo_met)} of ${count(run.offered)}`);
  assert.equal(told.pill, run.slo_share >= 0.99 ? "Held" : "Missed");
  assert.match(told.paragraph, /asked for \d at most; a start takes 2 min\./);
  const [worst, , hours] = told.facts;
  const windows = run.windows.filter((window) => window.served >= 20);
  const most = Math.max(...windows.map((window) => window.ttft_p99_s));
  showsTime(worst[1], most);
  shows(hours[1], run.held_gpu_hours);
  shows(worst[3], Math.max(...run.windows.map((window) => window.waiting)));

  // The table holds every window.
  await page.keyboard.press("t");
  const rows = page.locator(".fleet-timeline tbody tr");
  assert.equal(await rows.count(), run.windows.length);
  const cells = await rows.nth(30).locator("td").allTextContents();
  const window = run.windows[30];
  const asked = [window.offered, window.served, window.slo_met].map(count);
  assert.deepEqual(cells.slice(0, 3).map(plain), asked);
  shows(cells[5], window.waiting);
  assert.deepEqual(cells.slice(7).map(Number), [window.ready, window.desired]);

  // And so does the file, to the last digit.
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "CSV" }).click(),
  ]);
  assert.equal(download.suggestedFilename(), "fleet.csv");
  const lines = (await readFile(await download.path(), "utf8")).trim().split("\n");
  const csv = execFileSync(process.env.HEADROOM_CLI, ["fleet", ...SURGE, "--csv"], { encoding: "utf8" });
  const numbers = (line) => line.split(",").map((cell) => (cell === "" ? null : Number(cell)));
  const expected = csv.trim().split("\n");
  assert.equal(lines[0], expected[0]);
  assert.deepEqual(lines.slice(1).map(numbers), expected.slice(1).map(numbers));
  noComplaints(complaints);
  await context.close();
});

test("a dropped recording is what comes, as on the command line, and removed again", async () => {
  const { context, page, complaints } = await openFleet();
  await judged(page);
  const before = await answer(page);
  const name = "azure_2023_conv_first2000.csv.gz";
  const bytes = [...(await readFile(AZURE))];
  const data = await page.evaluateHandle(({ bytes, name }) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([new Uint8Array(bytes)], name));
    return transfer;
  }, { bytes, name });
  await page.dispatchEvent(".main", "drop", { dataTransfer: data });
  await page.locator("#field-recorded-at").waitFor();
  await type(page, "recorded-at", "5");
  await judged(page);
  await compared(page);
  assert.equal(await page.locator("#control-fleet-shape").isVisible(), false, "a recording has a course of its own");
  const said = await answer(page);
  const settings = SURGE.filter((setting) => !setting.startsWith("profile"));
  const run = native(settings, "--trace", AZURE, "--trace-rate", "5");
  shows(said.hero, late(run));
  assert.match(said.qualifier, / of 2,000$/);
  await page.locator(".recorded-actions button", { hasText: "Remove" }).click();
  await page.locator(".answer .qualifier", { hasText: before.qualifier }).waitFor();
  await judged(page);
  assert.equal((await answer(page)).hero, before.hero);
  noComplaints(complaints);
  await context.close();
});

test("other policies are tried on the same traffic, and the fewest fixed replicas are found", async () => {
  const { context, page, complaints } = await openFleet();
  await compared(page);
  const rows = await page.locator(".fleet-policies tbody tr").evaluateAll((all) =>
    all.map((row) => ({
      name: row.querySelector("th").textContent,
      cells: [...row.querySelectorAll("td")].map((cell) => cell.textContent),
      isCurrent: row.dataset.current === "true",
    })),
  );
  assert.equal(rows.filter((row) => row.isCurrent).length, 1);
  for (const name of ["KEDA", "Knative", "WVA V2"]) {
    assert.ok(rows.some((row) => plain(row.name).startsWith(name)), name);
  }
  const lates = rows.map((row) => Number.parseFloat(row.cells[0].replace("under", "")));
  assert.deepEqual(lates, [...lates].sort((a, b) => a - b), "by the share that is late");
  const [, , , fixed] = (await answer(page)).facts;
  const [, fewest] = fixed[1].match(/^(\d+) fixed$/);
  const run = (replicas) => native(SURGE, "--policy", "fixed", "--min", replicas, "--max", replicas);
  assert.ok(run(fewest).slo_share >= 0.99, `${fewest} hold`);
  if (fewest > 1) assert.ok(run(String(fewest - 1)).slo_share < 0.99, "one fewer does not");
  const keda = rows.find((row) => row.name.startsWith("KEDA"));
  shows(keda.cells[0].replace("under ", ""), late(native(SURGE, "--policy", "keda")));
  noComplaints(complaints);
  await context.close();
});

test("there and back by the top bar and by keys, and the scenario is one", async () => {
  const { context, page, complaints } = await open(browser, "v=1&rate=40&fleet.duration=300");
  const plan = await answer(page);
  const nav = page.getByRole("navigation");
  await nav.getByRole("link", { name: "Fleet" }).click();
  assert.match(await linkWith(page, "view=fleet"), /rate=40/);
  assert.equal(await nav.locator("[aria-current=page]").textContent(), "Fleet");
  await judged(page);
  const first = await answer(page);
  await type(page, "rate", "60");
  await page.locator(".answer .qualifier", { hasText: /of 18,000$/ }).waitFor();
  await type(page, "rate", "40");
  await linkWith(page, "rate=40");
  // A letter belongs to the field that has the focus.
  await page.locator(".fleet-timeline .panel-title").click();
  await page.keyboard.press("1");
  await settled(page);
  assert.deepEqual(await answer(page), plan);
  await page.keyboard.press("2");
  await judged(page);
  assert.deepEqual((await answer(page)).hero, first.hero);
  await page.keyboard.press("6");
  await page.locator(".know-card").waitFor();
  noComplaints(complaints);
  await context.close();
});

test("a change runs it anew, Esc stops it, and it can go on", async () => {
  const day = "v=1&view=fleet&rate=60&fleet.duration=86400&fleet.min=4";
  const { context, page, complaints } = await openFleet(day);
  await page.locator(".answer .pill", { hasText: "%" }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".answer .qualifier", { hasText: "stopped" }).waitFor();
  assert.equal(await page.locator(".answer .progress").getAttribute("data-on"), "false");
  await page.getByRole("button", { name: "Simulate" }).click();
  await page.locator(".answer .pill", { hasText: "%" }).waitFor();
  await type(page, "fleet-duration", "300");
  await linkWith(page, "fleet.duration=300");
  await judged(page);
  const run = native(["rate=60", "fleet.duration=300", "fleet.min=4"]);
  assert.ok((await answer(page)).qualifier.endsWith(` of ${run.offered.toLocaleString("en-GB")}`));
  noComplaints(complaints);
  await context.close();
});

test("the controls are the product's, and each does something", async () => {
  const { context, page, complaints } = await openFleet("v=1&view=fleet&rate=30&fleet.duration=300");
  await judged(page);
  const shape = page.locator("#control-fleet-shape");
  await shape.locator("label", { hasText: "Spike" }).click();
  await linkWith(page, "profile=spike(300s,600s,2)");
  await shape.locator("label", { hasText: "Day" }).click();
  assert.match(await linkWith(page, "profile=daily(0.3)"), /fleet\.duration=86400/);
  await shape.locator("label", { hasText: "Steady" }).click();
  await type(page, "fleet-duration", "300");
  await page.locator("#control-fleet-policy select").selectOption("keda");
  await linkWith(page, "fleet.policy=keda");
  assert.equal(await control(page, "fleet-scale-down").group.count(), 0, "KEDA has no such window here");
  await page.locator("#control-fleet-policy select").selectOption("fixed");
  assert.equal(await control(page, "fleet-signal").group.count(), 0);
  await type(page, "fleet-min", "3");
  await page.locator(".fold-button", { hasText: "Faults" }).click();
  await page.locator("#control-fleet-fault select").selectOption("replica");
  await type(page, "fleet-fault-at", "100");
  await page.locator(".fold-button", { hasText: "Routing" }).click();
  await page.locator("#control-fleet-router select").selectOption("round-robin");
  await linkWith(page, "fleet.router=round-robin");
  await page.locator(".answer .paragraph", { hasText: "A replica was lost" }).waitFor();
  await judged(page);
  const settings = ["rate=30", "fleet.duration=300", "fleet.policy=fixed", "fleet.min=3"];
  const more = ["fleet.fault=replica", "fleet.fault_at=100", "fleet.router=round-robin"];
  const run = native([...settings, ...more]);
  shows((await answer(page)).hero.replace("under ", ""), late(run));
  assert.match(
    plain((await answer(page)).paragraph),
    new RegExp(`3 replicas all the time\\. A replica was lost at 1 min 40 s: ${run.restarted_requests} requests? began again`),
  );
  noComplaints(complaints);
  await context.close();
});

test("what a fleet does not have is said", async () => {
  const { context, page, complaints } = await openFleet("v=1&view=fleet&overload.queue_limit=5");
  await page.locator(".answer .paragraph", { hasText: "overload.queue_limit=5" }).waitFor();
  noComplaints(complaints);
  await context.close();
});

test("with the keyboard alone: the cursor goes through all rows", async () => {
  const { context, page, complaints } = await openFleet();
  await judged(page);
  const cursor = page.locator(".fleet-timeline .plot-cursor");
  await cursor.focus();
  const spoken = () => cursor.getAttribute("aria-valuetext");
  await page.keyboard.press("Home");
  assert.match(plain(await spoken()), /^0:00; Arrivals [\d.]+ req\/s; Replicas 2; Queue \d+; KV cache/);
  await page.keyboard.press("ArrowRight");
  const value = async () => Number(await cursor.inputValue());
  assert.equal(await value(), 1);
  await page.keyboard.press("Shift+ArrowRight");
  assert.ok((await value()) > 5, "a minute on");
  await page.keyboard.press("Home");
  await page.keyboard.press("n");
  assert.match(await spoken(), /^2:00;/, "the surge starts");
  await page.keyboard.press("n");
  const second = await value();
  await page.keyboard.press("b");
  assert.ok((await value()) < second);
  await page.keyboard.press("End");
  assert.equal(await value(), Number(await cursor.getAttribute("max")));
  const readings = await page.locator(".fleet-value").allTextContents();
  assert.equal(readings.length, 6);
  noComplaints(complaints);
  await context.close();
});

test("a worker that dies on the way is replaced, and the answer still comes", async () => {
  const long = "v=1&view=fleet&rate=60&fleet.duration=20000&fleet.min=4&fleet.policy=fixed";
  const { context, page } = await openFleet(long);
  await page.locator(".answer .pill", { hasText: "%" }).waitFor();
  const [worker] = page.workers();
  await worker.evaluate(() => setTimeout(() => self.provoke_panic(), 0)).catch(() => {});
  await page.locator(".toast", { hasText: "A fresh worker started by itself" }).waitFor();
  await judged(page);
  assert.match((await answer(page)).qualifier, /^of 1,200,000$/);
  await context.close();
});

for (const colorScheme of ["light", "dark"]) {
  for (const [name, viewport] of Object.entries({ desk: DESK, phone: PHONE })) {
    test(`axe finds nothing grave and nothing is clipped, ${name}, ${colorScheme}`, async (t) => {
      const hasTouch = name === "phone";
      const { context, page, complaints } = await openFleet(LINK, { colorScheme, viewport, hasTouch });
      await judged(page);
      await compared(page);
      await page.evaluate(source);
      for (const state of ["rows", "table"]) {
        const run = () => window.axe.run(document, { resultTypes: ["violations"] });
        const { violations } = await page.evaluate(run);
        for (const { impact, id, help } of violations) t.diagnostic(`${state}: ${impact} ${id}: ${help}`);
        const grave = violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
        assert.deepEqual(grave.map(({ id, nodes }) => [id, nodes.map((n) => n.html)]), []);
        await page.locator(".fleet-timeline .panel-actions button", { hasText: "Table" }).click();
      }
      const wide = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      assert.ok(wide <= 0, `${wide} px stand out sideways`);
      const kinds = ".fleet-name, .fleet-value, .fleet-policies th, .answer .headline, .answer .fact-value";
      const clipped = await page.locator(kinds).evaluateAll((all) =>
        all.filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent),
      );
      assert.deepEqual(clipped, []);
      if (name === "phone") assert.equal(await page.locator(".fleet-reading").count(), 3);
      noComplaints(complaints);
      await context.close();
    });
  }
}

for (const [width, height] of [
  [1024, 768],
  [700, 900],
  [360, 740],
]) {
  test(`nothing is cut off at ${width} × ${height}, and nothing moves when it answers`, async () => {
    const { context, page, complaints } = await openFleet(LINK, { viewport: { width, height } });
    const place = () => page.locator(".fleet-timeline").boundingBox();
    await page.locator(".fleet-timeline").waitFor();
    const before = await place();
    await judged(page);
    await compared(page);
    const { y, height: high } = await place();
    assert.deepEqual([y, high], [before.y, before.height], "the rows moved");
    const wide = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    assert.ok(wide <= 0, `${wide} px stand out sideways`);
    const kinds = ".fleet-name, .fleet-value, .fleet-policies th, .answer .headline, .answer .fact-value";
    const clipped = await page.locator(kinds).evaluateAll((all) =>
      all.filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent),
    );
    assert.deepEqual(clipped, []);
    const canvas = await page.locator(".fleet-timeline canvas").first().boundingBox();
    assert.ok(canvas.width > 200 && canvas.height > 200, JSON.stringify(canvas));
    noComplaints(complaints);
    await context.close();
  });
}

test("the rows as a picture", async () => {
  const { context, page, complaints } = await openFleet();
  await judged(page);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "SVG" }).click(),
  ]);
  assert.equal(download.suggestedFilename(), "fleet.svg");
  const text = await readFile(await download.path(), "utf8");
  for (const word of ["<svg", "Arrivals", "Replicas", "P99 TTFT", "surge starts", "waiting at the peak", "</svg>"]) {
    assert.ok(text.includes(word), word);
  }
  noComplaints(complaints);
  await context.close();
});
