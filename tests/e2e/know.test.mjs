// "How we know": the proof runs in the visitor's browser, says what the command line says, and
// leaves the scenario alone.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { launch } from "./browser.mjs";
import { answer, linkWith, noComplaints, open, PATIENCE_MS, plain, settled, type } from "./page.mjs";

const { source } = createRequire(import.meta.url)("axe-core");
const DESK = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };

let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

/** Opens the view by its link. The plan's answer is not on it, so nothing waits for that. */
async function openKnow(options = {}, settings = "") {
  const { open: openAddress } = await import("./browser.mjs");
  const shape = { viewport: DESK, ...options };
  const opened = await openAddress(browser, `#v=1&view=know${settings}`, shape, options.prepare);
  opened.page.setDefaultTimeout(PATIENCE_MS);
  return opened;
}

/** Waits until every truth has its verdict. */
async function proved(page) {
  await page.locator(".know-card .pill[data-tone=ok]").waitFor({ timeout: PATIENCE_MS });
}

const truths = (page) =>
  page.locator(".truth").evaluateAll((rows) =>
    rows.map((row) => ({
      state: row.dataset.state,
      title: row.querySelector(".truth-title").textContent,
      figures: row.querySelector(".truth-figures").textContent,
    })),
  );

const fingerprint = (page) => page.locator("#fingerprint").textContent();

/** What the command line finds. */
function native(seed) {
  const args = ["know", "--json", "--proof-seed", String(seed)];
  return JSON.parse(execFileSync(process.env.HEADROOM_CLI, args, { encoding: "utf8" }));
}

test("the truths fill in, hold, and are the command line's to the bit", async () => {
  // Counts how often the list says something new, from before the page is there.
  const prepare = (page) =>
    page.addInitScript(() => {
      window.seen = new Set();
      new MutationObserver(() => {
        const text = document.querySelector(".truths")?.textContent;
        if (text) window.seen.add(text);
      }).observe(document, { childList: true, subtree: true, characterData: true });
    });
  const { context, page, complaints } = await openKnow({ prepare });
  await proved(page);
  const steps = await page.evaluate(() => window.seen.size);
  assert.ok(steps > 5, `the list filled in ${steps} steps`);

  const told = native(1);
  assert.equal(await fingerprint(page), told.fingerprint);
  const rows = await truths(page);
  const expected = told.truths;
  assert.equal(rows.length, expected.length);
  for (const [index, row] of rows.entries()) {
    assert.equal(row.state, "holds", row.title);
    assert.equal(row.title, expected[index].truth);
    assert.equal(row.figures, expected[index].found);
  }
  const hero = plain(await page.locator(".know-card .answer-text").textContent());
  assert.match(hero, /^of 14 hold/);
  assert.match(hero, /just now, in this browser; it took [\d.]+ m?s/);
  noComplaints(complaints);
  await context.close();
});

test("figures outside their interval are explained beside the chart, and in no colour of failure", async () => {
  const { context, page, complaints } = await openKnow();
  await proved(page);
  const [inside, all] = native(1).truths.find(({ truth }) => /^Queueing theory/.test(truth)).found.match(/\d+/g);
  const outside = Number(all) - Number(inside);
  const said = plain(await page.locator(".know-outside").textContent());
  assert.ok(said.startsWith(`${inside} of ${all} inside. Expected outside: 0.72`), said);
  assert.ok(outside <= Number(/up to (\d+) are no surprise/.exec(said)[1]), said);
  await page.locator(".know-queues .panel-actions button").click();
  const rows = page.locator(".know-queues tbody tr[data-outside=true]");
  assert.ok((await rows.count()) > 0 || outside === 0, "no row of the table says which");
  const ink = (selector) => page.locator(selector).first().evaluate((e) => getComputedStyle(e).color);
  const bad = await page.evaluate(() => {
    const probe = document.body.appendChild(document.createElement("i"));
    probe.style.color = "var(--bad)";
    return getComputedStyle(probe).color;
  });
  if (outside > 0) assert.notEqual(await ink(".know-queues tr[data-outside=true] td"), bad);
  assert.notEqual(await ink(".know-queues .ink-warn"), bad);
  noComplaints(complaints);
  await context.close();
});

test("running again proves it anew, with other numbers", async () => {
  const { context, page, complaints } = await openKnow();
  await proved(page);
  const [first, print] = [await truths(page), await fingerprint(page)];
  await page.getByRole("button", { name: "Run again" }).click();
  await page.waitForFunction(
    (old) => document.querySelector("#fingerprint").textContent !== old,
    print,
  );
  await proved(page);
  const again = await truths(page);
  assert.notDeepEqual(again, first);
  assert.ok(again.every((row) => row.state === "holds"));
  assert.equal(await fingerprint(page), native(2).fingerprint);
  noComplaints(complaints);
  await context.close();
});

test("there and back by the top bar, the scenario stays and the link says where one is", async () => {
  const { context, page, complaints } = await open(browser);
  await type(page, "rate", "37");
  await linkWith(page, "rate=37");
  await settled(page);
  const here = await answer(page);
  const nav = page.getByRole("navigation");
  await nav.getByRole("link", { name: "How we know" }).click();
  const link = await linkWith(page, "view=know");
  assert.match(link, /rate=37/);
  assert.equal(await nav.locator("[aria-current=page]").textContent(), "How we know");
  await proved(page);

  // A setting changed here keeps the view in the link.
  const entries = await page.evaluate(() => history.length);
  await type(page, "headroom", "40");
  assert.match(await linkWith(page, "headroom=40"), /view=know/);
  assert.match(await linkWith(page, "view=know"), /rate=37/);
  await page.waitForFunction((before) => history.length > before, entries);

  await page.goBack();
  await page.goBack();
  await page.locator(".answer .hero").waitFor();
  await settled(page);
  assert.doesNotMatch(await page.evaluate(() => location.hash), /view=/);
  assert.deepEqual(await answer(page), here);
  await page.goForward();
  await page.locator(".know-card").waitFor();

  await nav.getByRole("link", { name: "Plan" }).click();
  await settled(page);
  assert.deepEqual(await answer(page), here);
  assert.equal(await page.locator(".notice").count(), 0, "the view is a known key");
  noComplaints(complaints);
  await context.close();
});

test("theory has its table, and assumptions are this scenario's", async () => {
  const { context, page, complaints } = await openKnow({}, "&model=llama-3.1-8b&step.mfu=0.4");
  await proved(page);
  await page.locator(".know-queues").getByRole("button", { name: "Table" }).click();
  const rows = page.locator(".know-queues tbody tr");
  assert.equal(await rows.count(), 24);
  assert.equal(plain(await rows.first().locator("th").textContent()), "M/M/1 at 0.3");
  assert.equal(plain(await rows.first().locator("td").first().textContent()), "1.43");
  assert.equal(await page.locator(".know-tables tbody tr").count(), 27);
  const assumed = plain(await page.locator(".know-assumptions").textContent());
  assert.doesNotMatch(assumed, /0\.45 to 0\.55/, "what was typed is not assumed");
  assert.match(assumed, /too hopeful/);
  noComplaints(complaints);
  await context.close();
});

test("a worker that dies on the way is replaced and the proof still comes", async () => {
  const { context, page } = await openKnow();
  await page.locator(".truth[data-state=holds]").first().waitFor();
  const [worker] = page.workers();
  await worker.evaluate(() => setTimeout(() => self.provoke_panic(), 0)).catch(() => {});
  await proved(page);
  assert.equal(await fingerprint(page), native(1).fingerprint);
  await context.close();
});

test("with the keyboard alone", async () => {
  const { context, page, complaints } = await openKnow();
  await proved(page);
  const print = await fingerprint(page);
  const focused = () => page.evaluate(() => document.activeElement?.textContent ?? "");
  for (let presses = 0; (await focused()) !== "Run again"; presses += 1) {
    assert.ok(presses < 80, "Run again cannot be reached");
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Enter");
  await page.waitForFunction(
    (old) => document.querySelector("#fingerprint").textContent !== old,
    print,
  );
  await proved(page);
  noComplaints(complaints);
  await context.close();
});

for (const colorScheme of ["light", "dark"]) {
  for (const [name, viewport] of Object.entries({ desk: DESK, phone: PHONE })) {
    test(`axe finds nothing grave and nothing is clipped, ${name}, ${colorScheme}`, async (t) => {
      const hasTouch = name === "phone";
      const { context, page, complaints } = await openKnow({ colorScheme, viewport, hasTouch });
      await proved(page);
      await page.evaluate(source);
      const run = () => window.axe.run(document, { resultTypes: ["violations"] });
      const { violations } = await page.evaluate(run);
      for (const { impact, id, help } of violations) t.diagnostic(`${impact} ${id}: ${help}`);
      const grave = violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
      assert.deepEqual(grave.map(({ id, nodes }) => [id, nodes.map((n) => n.html)]), []);
      const wide = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      assert.ok(wide <= 0, `${wide} px stand out sideways`);
      const clipped = await page.locator(".truth-title, .truth-figures").evaluateAll((all) =>
        all.filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent),
      );
      assert.deepEqual(clipped, []);
      noComplaints(complaints);
      await context.close();
    });
  }
}

test("errors by regime stand beside their source", async () => {
  const { context, page, complaints } = await openKnow();
  const card = page.locator(".know-accuracy");
  await card.waitFor();
  const cells = await card
    .locator("tbody tr")
    .evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll("th, td")].map((it) => it.textContent)));
  assert.equal(cells.length, 10);
  const dense = cells.map((row) => row.map(plain)).find(([regime]) => regime === "dense, below 80 %");
  assert.deepEqual(dense, ["dense, below 80 %", "466", "15.2 % / 43.6 %", "9.3 % / 16.7 %", "8.1 % / 13.6 %"]);
  assert.match(plain(await card.textContent()), /docs\/accuracy\.md/);
  const widths = await card.locator(".accuracy-bar").evaluateAll((all) => all.map((bar) => bar.offsetWidth));
  assert.ok(widths.every((width) => width > 0) && new Set(widths).size > 5, widths.join(" "));
  noComplaints(complaints);
  await context.close();
});
