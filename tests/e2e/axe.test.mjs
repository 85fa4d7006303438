// axe-core on each state of the page. Serious and critical findings fail; all others are told.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { launch } from "./browser.mjs";
import { heroBecomes, noComplaints, open, settled, type } from "./page.mjs";

const { source } = createRequire(import.meta.url)("axe-core");
const PHONE = { width: 390, height: 844 };

let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

/** Runs axe on the page as it is now. */
async function check(t, page, state) {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(source);
  const { violations, passes } = await page.evaluate(() =>
    window.axe.run(document, { resultTypes: ["violations"] }),
  );
  assert.ok(passes.length > 10, "axe looked at next to nothing");
  const told = violations.map(
    ({ impact, id, help, nodes }) =>
      `${impact} ${id}: ${help}\n    ${nodes
        .slice(0, 4)
        .map((node) => `${node.target.join(" ")} ${node.any[0]?.message ?? node.failureSummary}`)
        .join("\n    ")}`,
  );
  const grave = violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
  for (const line of told) t.diagnostic(`${state}: ${line}`);
  assert.equal(grave.length, 0, `${state}:\n  ${told.join("\n  ")}`);
}

for (const colorScheme of ["light", "dark"]) {
  test(`settled, its folds, table and ledger, ${colorScheme}`, async (t) => {
    const { context, page, complaints } = await open(browser, "", { colorScheme });
    await check(t, page, "settled");
    for (const name of ["Arrivals", "Lengths", "Mix of requests", "Accuracy"]) {
      await page.locator(".fold-button", { hasText: name }).click();
    }
    await page.locator("#control-pattern label", { hasText: "Bursty" }).click();
    await page.locator(".ledger-button", { hasText: "Where the numbers come from" }).click();
    await page.locator(".knee .panel-actions button", { hasText: "Table" }).click();
    await settled(page);
    await check(t, page, "all open");
    noComplaints(complaints);
    await context.close();
  });

  test(`richer traffic, a refused class and the list of keys, ${colorScheme}`, async (t) => {
    const link =
      "v=1&in=quantiles(0:20,50:700,100:8000)&out=uniform(100,300)&arrivals=onoff(20s,60s,0.1)" +
      "&profile=daily(0.3)&class.rag=share:20,ttft:2000ms&sched.rules=dynamic(20ms)";
    const { context, page, complaints } = await open(browser, link, { colorScheme });
    for (const name of ["Arrivals", "Lengths", "Mix of requests"]) {
      await page.locator(".fold-button", { hasText: name }).click();
    }
    const share = page.locator(".class-part[data-part=share] input");
    await share.fill("most");
    await share.press("Enter");
    await page.locator(".class-row .control-message").waitFor();
    await page.getByRole("button", { name: "Add a class" }).click();
    await settled(page);
    await check(t, page, "rich");
    await page.getByRole("button", { name: "Keys" }).click();
    await page.locator("#keys[open]").waitFor();
    await check(t, page, "keys");
    noComplaints(complaints);
    await context.close();
  });

  test(`running, ${colorScheme}`, async (t) => {
    const { context, page, complaints } = await open(browser, "", { colorScheme });
    await page.locator(".fold-button", { hasText: "Accuracy" }).click();
    await type(page, "requests", "100000");
    await heroBecomes(page, /^≈/);
    await check(t, page, "running");
    const on = await page.locator(".answer .progress").getAttribute("data-on");
    assert.equal(on, "true", "the run was over before it was looked at");
    await page.keyboard.press("Escape");
    await check(t, page, "stopped by the person");
    noComplaints(complaints);
    await context.close();
  });

  test(`without an answer, ${colorScheme}`, async (t) => {
    for (const link of ["v=1&model=llama-3.1-70b", "v=1&ttft=10ms", "v=1&rate=90"]) {
      const { context, page, complaints } = await open(browser, link, { colorScheme });
      await check(t, page, link);
      noComplaints(complaints);
      await context.close();
    }
  });

  test(`notices, refused and clamped values, ${colorScheme}`, async (t) => {
    const { context, page, complaints } = await open(browser, "v=1&foo=1&rate=99999", { colorScheme });
    await page.locator(".notice").getByRole("button", { name: "Show" }).click();
    await type(page, "in", "abc");
    await type(page, "headroom", "250");
    await settled(page);
    await check(t, page, "notices");
    noComplaints(complaints);
    await context.close();
  });

  test(`a picker open, ${colorScheme}`, async (t) => {
    const { context, page, complaints } = await open(browser, "", { colorScheme });
    for (const id of ["model", "gpu"]) {
      await page.locator(`#control-${id} .picker-button`).click();
      await page.locator(".picker-search").waitFor();
      await check(t, page, `${id} picker`);
      await page.locator(".picker-search").fill("zzzz");
      await check(t, page, `${id} picker, nothing found`);
      await page.keyboard.press("Escape");
    }
    noComplaints(complaints);
    await context.close();
  });

  test(`a stopped worker, ${colorScheme}`, async (t) => {
    const { context, page } = await open(browser, "", { colorScheme });
    for (const _ of [1, 2]) {
      await settled(page);
      const [worker] = page.workers();
      await worker.evaluate(() => setTimeout(() => self.provoke_panic(), 0)).catch(() => {});
      await page.locator(".restart").waitFor();
    }
    await page.locator(".restart-note", { hasText: "twice" }).waitFor();
    await check(t, page, "stopped");
    await context.close();
  });

  test(`phone: peek, half and full sheet, ${colorScheme}`, async (t) => {
    const { context, page, complaints } = await open(browser, "", {
      colorScheme,
      viewport: PHONE,
      hasTouch: true,
    });
    await check(t, page, "peek");
    const stop = (name) => page.locator(`.side[data-stop=${name}]`).waitFor();
    await page.locator(".sheet-grip").focus();
    await page.keyboard.press("Enter");
    await stop("half");
    await check(t, page, "half");
    await page.keyboard.press("Enter");
    await stop("full");
    await check(t, page, "full");
    noComplaints(complaints);
    await context.close();
  });

  test(`drawer open, ${colorScheme}`, async (t) => {
    const viewport = { width: 700, height: 900 };
    const { context, page, complaints } = await open(browser, "", { colorScheme, viewport });
    await page.getByRole("button", { name: "Settings", exact: true }).click();
    await page.locator(".side[data-open=true]").waitFor();
    await check(t, page, "drawer");
    noComplaints(complaints);
    await context.close();
  });
}
