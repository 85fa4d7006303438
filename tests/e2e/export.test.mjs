// Export: every text is the command line's own, to the letter.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { launch } from "./browser.mjs";
import { noComplaints, open, PATIENCE_MS } from "./page.mjs";

const { source } = createRequire(import.meta.url)("axe-core");
// Some of everything that texts tell of, and small runs.
const LINK = "v=1&rate=60&in=lognormal(900,0.8)&sim.requests=400&sim.replications=3";

let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

/** The command line's output for the link. */
const native = (...args) =>
  execFileSync(process.env.HEADROOM_CLI, [...args, LINK], { encoding: "utf8" });

async function openExport(link = LINK, options = {}) {
  const opened = await open(browser, link, { runs: 3, ...options });
  await opened.page.locator(".bar button", { hasText: "Export" }).click();
  await opened.page.locator("#export[open]").waitFor();
  return opened;
}

/** The text of an item, as it is shown. */
async function text(page, name) {
  await page.locator(".export-entry", { has: page.getByText(name, { exact: true }) }).click();
  const shown = page.locator(".export-text");
  await shown.waitFor({ timeout: PATIENCE_MS });
  return shown.evaluate((element) => element.textContent);
}

test("texts are the command line’s", async () => {
  const { context, page, complaints } = await openExport();
  assert.equal(await text(page, "vllm serve"), native("export", "vllm"));
  assert.equal(await text(page, "vllm bench serve"), native("export", "bench"));
  assert.equal(await text(page, "Kubernetes"), native("export", "k8s"));
  assert.equal(await text(page, "CSV"), native("plan", "--csv"));
  assert.equal(await text(page, "Scenario file"), native("link", "--json"));
  assert.equal(await text(page, "Link"), await page.evaluate(() => location.href));
  assert.equal(await text(page, "Markdown"), native("report"));
  assert.equal(await text(page, "JSON"), native("plan", "--json"));
  noComplaints(complaints);
  await context.close();
});

test("the command gives the same numbers in a shell", async () => {
  const { context, page, complaints } = await openExport();
  const command = await text(page, "Command");
  assert.match(command, /^headroom plan 'v=1&/);
  const there = spawnSync("sh", ["-c", `${command.trim()} --json`.replace(/^headroom/, '"$HEADROOM_CLI"')], {
    encoding: "utf8",
  });
  assert.equal(there.stdout, native("plan", "--json"), there.stderr);
  noComplaints(complaints);
  await context.close();
});

test("the HTML report is saved whole, opens without a network, and has nothing for axe", async () => {
  const { context, page, complaints } = await openExport(LINK, { acceptDownloads: true });
  await page.locator(".export-entry", { hasText: "HTML page" }).click();
  const save = page.locator("#export button", { hasText: "Download" });
  await page.waitForFunction(
    () => [...document.querySelectorAll("#export .export-head button")].every((b) => !b.disabled),
    null,
    { timeout: PATIENCE_MS },
  );
  const [download] = await Promise.all([page.waitForEvent("download"), save.click()]);
  assert.equal(download.suggestedFilename(), "report.html");
  const path = await download.path();
  const here = await readFile(path, "utf8");
  const file = `${path}.native`;
  execFileSync(process.env.HEADROOM_CLI, ["report", "--html", file, LINK]);
  assert.equal(here, await readFile(file, "utf8"));
  noComplaints(complaints);

  const report = await context.newPage();
  const asked = [];
  report.on("request", (request) => asked.push(request.url()));
  await report.setContent(here);
  assert.deepEqual(asked.filter((url) => !url.startsWith("data:")), []);
  await report.addScriptTag({ content: source });
  const found = await report.evaluate(() => window.axe.run());
  assert.deepEqual(found.violations.map((v) => v.id), []);
  await context.close();
});

test("where there is no number of GPUs it says what to do instead", async () => {
  const { context, page, complaints } = await openExport("v=1&ttft=1ms&sim.replications=1", {
    runs: 1,
  });
  await page.locator(".export-entry", { hasText: "Kubernetes" }).click();
  assert.match(await page.locator(".export-said").textContent(), /change first|answer/i);
  assert.ok(await page.locator("#export button", { hasText: "Copy" }).isDisabled());
  noComplaints(complaints);
  await context.close();
});

test("the dialog is reached by E, left by Escape, and fits a phone", async () => {
  const { context, page, complaints } = await open(browser, LINK, {
    runs: 3,
    viewport: { width: 390, height: 844 },
    bypassCSP: true,
  });
  await page.locator("body").press("e");
  await page.locator("#export[open]").waitFor();
  // Letters belong to the dialog while it is open.
  await page.locator("#export").press("p");
  assert.equal((await page.evaluate(() => location.hash)).includes("versus"), false);
  const wide = await page.evaluate(() => {
    const box = document.querySelector("#export").getBoundingClientRect();
    return Math.max(box.right - innerWidth, -box.left);
  });
  assert.ok(wide <= 0, `${wide} px beyond the screen`);
  await page.addScriptTag({ content: source });
  const found = await page.evaluate(() => window.axe.run("#export"));
  assert.deepEqual(found.violations.map((v) => v.id), []);
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => !document.querySelector("#export"));
  noComplaints(complaints);
  await context.close();
});
