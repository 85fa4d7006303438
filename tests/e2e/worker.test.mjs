// The worker dies in every way that it can: the page says so, a fresh one takes over, nothing typed
// is lost.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, siteUrl } from "./browser.mjs";
import {
  answer,
  control,
  heroBecomes,
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

/** Keeps every text of the pill and the restart note from here on. */
const record = (page) =>
  page.evaluate(() => {
    window.seen = [];
    const card = document.querySelector(".answer");
    new MutationObserver(() => {
      const text = (selector) => card.querySelector(selector)?.textContent ?? "";
      const now = [text(".pill"), text(".paragraph"), text(".restart-note")].join(" | ");
      if (window.seen.at(-1) !== now) window.seen.push(now);
    }).observe(card, { childList: true, characterData: true, subtree: true });
  });

const seen = async (page) => plain((await page.evaluate(() => window.seen)).join("\n"));

/** The one worker of the page, once there is one. */
async function worker(page) {
  const deadline = Date.now() + PATIENCE_MS;
  while (page.workers().length === 0) {
    assert.ok(Date.now() < deadline, "there is no worker");
    await page.waitForTimeout(50);
  }
  return page.workers()[0];
}

/** Lets the worker panic as it would by itself. */
async function panic(page) {
  const dying = await worker(page);
  await dying.evaluate(() => setTimeout(() => self.provoke_panic(), 0)).catch(() => {});
}

/** What the browser itself tells of a worker's death is no complaint about the page. */
const beyondTheDrill = (complaints) =>
  complaints.filter((text) => !/drill|unreachable|provoke_panic|panicked/.test(text));

test("a panic: the page says so, a fresh worker answers, the settings are kept", async () => {
  const { context, page, complaints } = await open(browser, "v=1&rate=70");
  const before = await answer(page);
  await record(page);
  await panic(page);
  await page.locator(".toast", { hasText: "A fresh worker started by itself" }).waitFor();
  await settled(page);
  const said = await seen(page);
  assert.match(said, /Stopped \| The calculation stopped: .*fault drill.* Your settings are kept\./);
  assert.match(said, /A fresh worker starts by itself/);
  assert.deepEqual(await answer(page), before);
  assert.equal(await control(page, "rate").field.inputValue(), "70");
  // And it goes on working.
  await type(page, "rate", "80");
  await settled(page);
  assert.match((await answer(page)).headline, /80 req\/s/);
  noComplaints(beyondTheDrill(complaints));
  await context.close();
});

test("a panic in the middle of a run: the run is begun again", async () => {
  const { context, page, complaints } = await open(browser);
  await record(page);
  await page.locator(".fold-button", { hasText: "Accuracy" }).click();
  await type(page, "requests", "20000");
  await panic(page);
  await type(page, "rate", "140");
  await settled(page);
  assert.match(await seen(page), /Stopped/);
  const said = await answer(page);
  assert.match(said.headline, /140 req\/s/);
  assert.equal(await control(page, "requests").field.inputValue(), "20,000");
  noComplaints(beyondTheDrill(complaints));
  await context.close();
});

test("an uncaught error: the same", async () => {
  const { context, page, complaints } = await open(browser);
  await record(page);
  const dying = await worker(page);
  await dying.evaluate(() => {
    setTimeout(() => {
      throw new Error("drill: uncaught");
    }, 0);
  });
  await page.locator(".toast", { hasText: "A fresh worker started by itself" }).waitFor();
  await settled(page);
  assert.match(await seen(page), /The calculation stopped: .*drill: uncaught/);
  assert.equal((await answer(page)).hero, "6");
  noComplaints(beyondTheDrill(complaints));
  await context.close();
});

test("silence: noticed by the watchdog once something is asked", async () => {
  const { context, page, complaints } = await open(browser);
  await record(page);
  const silent = await worker(page);
  await silent.evaluate(() => self.close()).catch(() => {});
  const started = Date.now();
  await type(page, "rate", "80");
  await heroBecomes(page, /^≈/);
  const notice = page.locator(".toast", { hasText: "A fresh worker started by itself" });
  const toast = await notice.textContent();
  const waited = Date.now() - started;
  await settled(page);
  assert.match(await seen(page), /has not answered for 10 seconds/);
  assert.ok(waited > 9_000, `called silent after ${waited} ms`);
  // The page says how long nothing was calculated, not how long it took to begin again.
  const [, told] = /stood still for ([\d.]+).s\. A fresh worker started by itself/u.exec(toast) ?? [];
  assert.ok(Number(told) >= 10 && Number(told) * 1_000 <= waited + 1_000, `${toast} after ${waited} ms`);
  assert.match((await answer(page)).headline, /80 req\/s/);
  noComplaints(beyondTheDrill(complaints));
  await context.close();
});

test("twice in a minute: the page waits for the person", async () => {
  const { context, page, complaints } = await open(browser, "v=1&rate=70");
  const before = await answer(page);
  await panic(page);
  await page.locator(".toast", { hasText: "A fresh worker started by itself" }).waitFor();
  await settled(page);
  await panic(page);
  await page.locator(".restart-note", { hasText: "Stopped twice in a minute" }).waitFor();
  assert.equal((await answer(page)).pill, "Stopped");
  // Longer than a fresh worker would take: none comes.
  await page.waitForTimeout(1_500);
  assert.equal(page.workers().length, 0);
  assert.equal((await answer(page)).pill, "Stopped");
  // Settings can still be changed, and are asked for once there is a worker again.
  await type(page, "rate", "90");
  assert.equal((await answer(page)).pill, "Stopped");
  await type(page, "rate", "70");
  await page.getByRole("button", { name: "Start again" }).click();
  await settled(page);
  assert.deepEqual(await answer(page), before);

  await panic(page);
  await page.locator(".toast", { hasText: "A fresh worker started by itself" }).waitFor();
  await panic(page);
  await page.getByRole("button", { name: "Use fewer runs" }).click();
  await settled(page, 4);
  assert.match((await answer(page)).facts.at(-1).at(-1), /4 runs/);
  noComplaints(beyondTheDrill(complaints));
  await context.close();
});

test("a worker that cannot be loaded is told apart from one that thinks", async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.route(/\/worker-[^/]*\.js$/, (route) => route.abort());
  await page.goto(siteUrl);
  await page.locator(".restart-note", { hasText: "Stopped twice in a minute" }).waitFor({
    timeout: PATIENCE_MS,
  });
  assert.equal((await answer(page)).pill, "Stopped");
  await page.unroute(/\/worker-[^/]*\.js$/);
  await page.getByRole("button", { name: "Start again" }).click();
  await settled(page);
  assert.equal((await answer(page)).hero, "6");
  await context.close();
});
