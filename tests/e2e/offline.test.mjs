// Nothing leaves the machine, no policy is broken, and it works without a network and in a folder.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { launch, siteUrl } from "./browser.mjs";
import { answer, control, noComplaints, open, settled, type } from "./page.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

/** Uses a little of everything. */
async function useIt(page) {
  await type(page, "rate", "80");
  await control(page, "ttft").slider.press("PageUp");
  await page.locator("#control-gpu .picker-button").click();
  await page.locator(".picker-search").fill("h200");
  await page.keyboard.press("Enter");
  await page.locator(".ledger-button", { hasText: "Where the numbers come from" }).click();
  await page.locator(".knee .panel-actions button", { hasText: "Table" }).click();
  await page.locator("button[aria-label^='Theme: ']").click();
  await settled(page);
}

test("no request leaves this site, and each is for one of its files", async () => {
  const context = await browser.newContext();
  const requested = [];
  context.on("request", (request) => requested.push(request.url()));
  const page = await context.newPage();
  await page.addInitScript(() => {
    window.violations = [];
    document.addEventListener("securitypolicyviolation", (event) => {
      window.violations.push(`${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  await page.goto(siteUrl);
  await settled(page);
  await useIt(page);
  assert.ok(requested.length >= 5, `${requested.length} requests were seen`);
  for (const url of requested) {
    assert.ok(url.startsWith(siteUrl), `a request to ${url}`);
    assert.doesNotMatch(url, /rate=|[?]/, "the scenario left the page");
  }
  assert.deepEqual(await page.evaluate(() => window.violations), []);
  assert.deepEqual(await context.cookies(), []);
  await context.close();
});

test("once loaded it works without a network", async () => {
  const { context, page, complaints } = await open(browser);
  await settled(page);
  // What few need is fetched when the page has nothing else to do.
  await page.waitForFunction(() =>
    performance
      .getEntriesByType("resource")
      .some(({ name, responseEnd }) => name.endsWith("_late.wasm") && responseEnd > 0),
  );
  await context.setOffline(true);
  await useIt(page);
  assert.match((await answer(page)).headline, /^H200 .*80 req\/s/);
  noComplaints(complaints);
  await context.close();
});

test("it works in a folder of a larger site", async () => {
  const folder = "/a/folder%20of/headroom/";
  const server = createServer(async (request, response) => {
    if (!request.url.startsWith(folder)) {
      response.writeHead(404).end();
      return;
    }
    const found = await fetch(new URL(request.url.slice(folder.length), siteUrl));
    const type = found.headers.get("content-type") ?? "text/plain";
    response.writeHead(found.status, { "content-type": type });
    response.end(Buffer.from(await found.arrayBuffer()));
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const address = `http://127.0.0.1:${server.address().port}${folder}#v=1&rate=80`;
  const { context, page, complaints } = await open(browser, "");
  try {
    await page.goto(address);
    await settled(page);
    assert.match((await answer(page)).headline, /80 req\/s/);
    assert.ok(page.url().startsWith(address.split("#")[0]));
    noComplaints(complaints);
  } finally {
    await context.close();
    server.closeAllConnections();
    server.close();
  }
});
