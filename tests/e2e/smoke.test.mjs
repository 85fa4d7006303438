// The built site comes up: page and worker load under the security policy and are of one build.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, open } from "./browser.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

test("the page loads without a complaint", async () => {
  const { context, page, complaints } = await open(browser);
  // The complaints first: they say why there is no heading.
  const heading = await page.waitForSelector("h1", { timeout: 10_000 }).catch(() => null);
  assert.deepEqual(complaints, []);
  assert.ok(heading, "the page shows no heading");
  assert.match(await page.title(), /Headroom/);
  await context.close();
});

test("the worker that the page names starts", async () => {
  const { context, page, complaints } = await open(browser);
  const meta = (name) => page.getAttribute(`meta[name="${name}"]`, "content");
  const script = await meta("worker");
  assert.match(script, /^\.\/worker-[0-9a-f]{16}\.js$/);
  assert.match(await meta("build-id"), /^[0-9a-f]{16}$/);
  const module = await page.waitForFunction(() => {
    const loaded = performance.getEntriesByType("resource").map((entry) => entry.name);
    return loaded.find((name) => name.endsWith("_bg.wasm"));
  });
  // A worker of our own, since what the page does with its one is the page's affair.
  const answered = await page.evaluate(
    ([address, wasm]) =>
      new Promise((resolve, reject) => {
        const worker = new Worker(new URL(address, document.baseURI), { type: "module" });
        worker.onmessage = () => resolve(true);
        worker.onerror = (event) => reject(new Error(event.message));
        WebAssembly.compileStreaming(fetch(wasm)).then(
          (module) => worker.postMessage({ script: wasm.replace("_bg.wasm", ".js"), module }),
          reject,
        );
      }),
    [script, await module.jsonValue()],
  );
  assert.ok(answered);
  assert.deepEqual(complaints, []);
  await context.close();
});

test("the policy allows no other script", async () => {
  const { context, page, complaints } = await open(browser);
  const ran = await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.intruder = true";
    document.head.append(script);
    return window.intruder === true;
  });
  assert.equal(ran, false);
  assert.match(complaints.join("\n"), /Content Security Policy/);
  await context.close();
});
