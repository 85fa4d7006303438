// What few visitors need is not loaded at first: it comes when the page has time, or when it is
// needed, and if it does not come the page says so and tries again.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { launch, open as openAddress, siteUrl } from "./browser.mjs";
import {
  answer,
  kneeTable,
  noComplaints,
  open,
  PATIENCE_MS,
  plain,
  settled,
  type,
} from "./page.mjs";

const LATE = /headroom-[0-9a-f]{16}_late\.wasm$/;
const VLLM = "v=1&rate=20&sched.rules=vllm-0.33&sim.requests=1000";

let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

/** The browser never has time by itself: what is loaded is loaded because somebody needs it. */
const neverIdle = (page) =>
  page.addInitScript(() => {
    window.requestIdleCallback = () => 0;
  });

/** Keeps the addresses of all requests, in their order, as `page.requested`. */
const follow = async (page) => {
  page.requested = [];
  page.on("request", (request) => page.requested.push(request.url()));
};

const lateRequests = (page) => page.requested.filter((url) => LATE.test(url)).length;

/** Lets the late part fail as long as the function that comes back has not been called. */
async function breakLate(page) {
  await page.route(LATE, (route) => route.abort());
  return () => page.unroute(LATE);
}

/** What the browser itself tells of a file that did not come. */
const beyondTheLoss = (complaints) => complaints.filter((text) => !/_late\.wasm/.test(text));

async function eventually(what, isSo) {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await isSo())) {
    assert.ok(Date.now() < deadline, what);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const native = (link) =>
  JSON.parse(
    execFileSync(process.env.HEADROOM_CLI, ["plan", `${siteUrl}#${link}`, "--json"], {
      encoding: "utf8",
      maxBuffer: 1 << 28,
    }),
  );

test("a plan needs no late part, and it comes once the page has time", async () => {
  // The time comes when the test says so.
  const prepare = async (page) => {
    await follow(page);
    await page.addInitScript(() => {
      window.whenIdle = [];
      window.requestIdleCallback = (then) => window.whenIdle.push(then);
    });
  };
  const { context, page, complaints } = await open(browser, "", { prepare });
  await settled(page);
  await type(page, "rate", "80");
  await settled(page);
  assert.equal(lateRequests(page), 0, "the late part was loaded, and nobody needed it");
  assert.ok(page.requested.some((url) => url.endsWith("_bg.wasm")));
  await eventually("the page waits for time", () => page.evaluate(() => window.whenIdle.length > 0));
  await page.evaluate(() => window.whenIdle.forEach((then) => then()));
  await eventually("the late part is loaded", () => lateRequests(page) > 0);
  await page.waitForTimeout(200);
  assert.equal(lateRequests(page), 1, "once is enough");
  noComplaints(complaints);
  await context.close();
});

test("without being asked it comes by itself, after the answer", async () => {
  let atRest;
  const prepare = async (page) => {
    await follow(page);
    page.on("request", async (request) => {
      if (!LATE.test(request.url())) return;
      atRest ??= page.evaluate(() => document.querySelector(".answer .hero").textContent);
    });
  };
  const { context, page, complaints } = await open(browser, "", { prepare });
  await eventually("the late part is loaded", () => lateRequests(page) === 1);
  assert.equal(await atRest, "6");
  noComplaints(complaints);
  await context.close();
});

test("vLLM’s rules load it, and its answer is the command line’s", async () => {
  const prepare = async (page) => {
    await follow(page);
    await neverIdle(page);
  };
  const { context, page, complaints } = await open(browser, VLLM, { prepare });
  assert.equal(lateRequests(page), 1);
  const expected = native(VLLM);
  assert.equal((await answer(page)).hero, String(expected.verdict.gpus));
  const rows = await kneeTable(page);
  assert.equal(rows.length, expected.knee.length);
  rows.forEach(([rate, ttft50], index) => {
    const point = expected.knee[index];
    assert.equal(Number(rate.split(" ")[0]).toFixed(1), point.rate_per_s.toFixed(1));
    if (!point.stable) return;
    const value = Number(ttft50.replaceAll(",", "").split(" ")[0]);
    const scale = ttft50.endsWith("ms") ? 1e3 : 1;
    const there = point.ttft_p50_s.value * scale;
    assert.ok(Math.abs(value - there) <= Math.max(0.5, 0.005 * there), `${ttft50}: ${there}`);
  });
  // Whole batches are in it, too.
  await page.evaluate(() => {
    location.hash = "#v=1&rate=1&sched.rules=static&sim.requests=1000";
  });
  await settled(page);
  assert.equal(lateRequests(page), 1);
  noComplaints(complaints);
  await context.close();
});

test("a change of the rules on the way loads it, and back again needs nothing", async () => {
  const prepare = async (page) => {
    await follow(page);
    await neverIdle(page);
  };
  const { context, page, complaints } = await open(browser, "v=1&rate=20", { prepare });
  const before = await answer(page);
  assert.equal(lateRequests(page), 0);
  await page.evaluate(() => {
    location.hash = "#v=1&rate=20&sched.rules=vllm-0.33";
  });
  await eventually("the late part is loaded", () => lateRequests(page) === 1);
  await settled(page);
  await page.goBack();
  await settled(page);
  assert.deepEqual(await answer(page), before);
  noComplaints(complaints);
  await context.close();
});

test("a loss is told, and “Start again” tries again", async () => {
  let mend;
  const prepare = async (page) => {
    await follow(page);
    await neverIdle(page);
    mend = await breakLate(page);
  };
  const shape = { viewport: { width: 1440, height: 900 } };
  const { context, page, complaints } = await openAddress(browser, `#${VLLM}`, shape, prepare);
  const said = page.locator(".answer .paragraph");
  await said.filter({ hasText: "could not be loaded" }).waitFor({ timeout: PATIENCE_MS });
  assert.match(plain(await said.textContent()), /simulates these rules.*Your settings are kept\./);
  assert.equal(plain(await page.locator(".restart-note").textContent()), "Any change of a setting tries again, too.");
  // What does not need it still works.
  const link = await page.evaluate(() => location.hash);
  await page.evaluate(() => {
    location.hash = "#v=1&rate=20&sim.requests=1000";
  });
  await settled(page);
  await page.evaluate((back) => {
    location.hash = back;
  }, link);
  await said.filter({ hasText: "could not be loaded" }).waitFor({ timeout: PATIENCE_MS });
  const tries = lateRequests(page);
  assert.ok(tries >= 2, `${tries} attempts`);

  await mend();
  await page.getByRole("button", { name: "Start again" }).click();
  await settled(page);
  assert.equal((await answer(page)).hero, String(native(VLLM).verdict.gpus));
  assert.deepEqual(beyondTheLoss(complaints), []);
  await context.close();
});

test("“How we know” loads it, tells a loss, and “Try again” brings the view", async () => {
  let mend;
  const prepare = async (page) => {
    await follow(page);
    await neverIdle(page);
    mend = await breakLate(page);
  };
  const shape = { viewport: { width: 1440, height: 900 } };
  const { context, page, complaints } = await openAddress(
    browser,
    "#v=1&view=know",
    shape,
    prepare,
  );
  page.setDefaultTimeout(PATIENCE_MS);
  await page.getByText("This view could not be loaded.").waitFor();
  assert.equal(lateRequests(page), 1, "it does not try again and again by itself");
  await mend();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.locator(".know-card .pill[data-tone=ok]").waitFor({ timeout: PATIENCE_MS });
  assert.equal(lateRequests(page), 2);
  assert.deepEqual(beyondTheLoss(complaints), []);
  await context.close();
});

test("folded settings, the table and the sources load it, tell a loss, and can try again", async () => {
  let mend;
  const prepare = async (page) => {
    await follow(page);
    await neverIdle(page);
    mend = await breakLate(page);
  };
  const { context, page, complaints } = await open(browser, "", { prepare });
  await page.locator(".fold-button", { hasText: "Arrivals" }).click();
  const fold = page.locator("#fold-arrivals");
  await fold.getByText("These settings could not be loaded.").waitFor();
  await page.locator(".knee .panel-actions button", { hasText: "Table" }).click();
  await page.locator(".ledger-button", { hasText: "Where the numbers come from" }).click();
  await page.locator("#ledger").getByText("These numbers could not be loaded.").waitFor();
  await page.locator(".plot").getByText("These numbers could not be loaded.").waitFor();
  assert.equal(lateRequests(page), 1, "it does not try again and again by itself");
  await mend();
  await fold.getByRole("button", { name: "Try again" }).click();
  await page.locator("#control-pattern").waitFor();
  // What waited for the same part comes with it.
  await page.locator(".plot tbody tr").first().waitFor();
  await page.locator("#ledger tbody tr").first().waitFor();
  assert.equal(lateRequests(page), 2);
  assert.deepEqual(beyondTheLoss(complaints), []);
  await context.close();
});

test("an unasked attempt that fails is not told, and made good when somebody asks", async () => {
  let mend;
  const prepare = async (page) => {
    await follow(page);
    mend = await breakLate(page);
  };
  const { context, page, complaints } = await open(browser, "", { prepare });
  await eventually("it is tried", () => lateRequests(page) === 1);
  await page.waitForTimeout(200);
  assert.equal(await page.getByText("could not be loaded").count(), 0);
  await mend();
  await page.getByRole("link", { name: "How we know" }).click();
  await page.locator(".know-card .pill[data-tone=ok]").waitFor({ timeout: PATIENCE_MS });
  assert.deepEqual(beyondTheLoss(complaints), []);
  await context.close();
});

test("once it is there all of it works without a network, in a fresh worker, too", async () => {
  const { context, page, complaints } = await open(browser, "", { prepare: follow });
  await eventually("the late part is loaded", () => lateRequests(page) === 1);
  await page.waitForTimeout(500);
  await context.setOffline(true);
  await page.evaluate((link) => {
    location.hash = `#${link}`;
  }, VLLM);
  await settled(page);
  const before = await answer(page);
  assert.equal(before.hero, String(native(VLLM).verdict.gpus));
  await page.getByRole("link", { name: "How we know" }).click();
  await page.locator(".know-card .pill[data-tone=ok]").waitFor({ timeout: PATIENCE_MS });
  noComplaints(complaints);
  await context.setOffline(false);
  await page.getByRole("link", { name: "Plan" }).click();
  const [worker] = page.workers();
  await worker.evaluate(() => setTimeout(() => self.provoke_panic(), 0)).catch(() => {});
  await page.locator(".toast", { hasText: "A fresh worker started by itself" }).waitFor();
  await settled(page);
  assert.deepEqual(await answer(page), before);
  assert.equal(lateRequests(page), 1);
  await context.close();
});

test("a server that does not know what a module is serves it, too", async () => {
  const server = createServer(async (request, response) => {
    const found = await fetch(new URL(request.url.slice(1), siteUrl));
    const type = request.url.endsWith(".wasm") ? "text/plain" : found.headers.get("content-type");
    response.writeHead(found.status, { "content-type": type ?? "text/plain" });
    response.end(Buffer.from(await found.arrayBuffer()));
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(`http://127.0.0.1:${server.address().port}/#${VLLM}`);
    await settled(page);
    assert.equal((await answer(page)).hero, String(native(VLLM).verdict.gpus));
  } finally {
    await context.close();
    server.closeAllConnections();
    server.close();
  }
});
