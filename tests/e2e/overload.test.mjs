// Overload, clients that react, and users in place of a rate: in the link, the answer and the knee.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch } from "./browser.mjs";
import {
  answer,
  choose,
  control,
  kneeTable,
  linkWith,
  noComplaints,
  open,
  plain,
  settled,
  type,
  unfold,
} from "./page.mjs";

const RUNS = 4;
const SMALL = `sim.requests=800&sim.replications=${RUNS}`;

let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser?.close();
});

const option = (page, id, label) => page.locator(`#control-${id} label`, { hasText: label });
const isThere = (page, id) => page.locator(`#control-${id}`).count();
const remarks = async (page) => plain(await page.locator(".remarks").textContent());

test("a queue limit and a deadline change the answer; few settings are shown at first", async () => {
  const { context, page, complaints } = await open(browser, `v=1&rate=60&${SMALL}`, { runs: RUNS });
  const before = await answer(page);
  const fold = await unfold(page, "Overload and retries");
  assert.match(plain(await fold.textContent()), /Overload and retries\s*None/);
  const shown = await page.locator("#fold-overload .control").evaluateAll((all) =>
    all.map((control) => control.id.replace("control-", "")),
  );
  assert.deepEqual(shown, ["queue-policy", "queue-limit", "deadline", "patience"]);

  await type(page, "queue-limit", "2");
  await linkWith(page, "overload.queue_limit=2");
  await settled(page, RUNS);
  const short = await answer(page);
  assert.notDeepEqual(short.facts, before.facts, "a short queue turns many away");
  assert.match(plain(await fold.textContent()), /at most 2 wait/);
  const withheld = (await kneeTable(page)).filter((row) => row.join(" ").includes("too few answers"));
  assert.ok(withheld.length > 0, "no percentile is withheld");
  assert.equal(await isThere(page, "rejection-cost"), 1);
  await type(page, "rejection-cost", "20ms");
  await linkWith(page, "overload.rejection_cost=0.02");
  await type(page, "queue-limit", "many");
  const said = plain(await control(page, "queue-limit").message.textContent());
  assert.match(said, /“many” is not .*“Queue limit”.* 100\. Still using 2\./);
  await type(page, "queue-limit", "0");
  const zero = plain(await control(page, "queue-limit").message.textContent());
  assert.match(zero, /^0 means no limit: .* Write none to say so, or .* for example 100\. Using none\.$/);
  await type(page, "queue-limit", "none");
  assert.equal(await control(page, "queue-limit").message.count(), 0, "it is told of still");
  await type(page, "rejection-cost", "0");
  await type(page, "deadline", "500ms");
  const link = await linkWith(page, "overload.deadline=0.5");
  assert.ok(!link.includes("queue_limit"), link);
  await settled(page, RUNS);
  noComplaints(complaints);
  await context.close();
});

test("every queue policy stands in the link; CoDel has numbers of its own", async () => {
  const link = `v=1&rate=60&share=90&class.vip=share:20,priority:-1&${SMALL}`;
  const { context, page, complaints } = await open(browser, link, { runs: RUNS });
  await unfold(page, "Overload and retries");
  for (const [label, word] of [
    ["Newest first", "lifo"],
    ["By priority", "priority"],
    ["Oldest first, CoDel", "codel"],
  ]) {
    await choose(page, "queue-policy", label);
    await linkWith(page, `overload.policy=${word}`);
    await settled(page, RUNS);
  }
  await type(page, "codel-target", "5ms");
  await type(page, "codel-interval", "100ms");
  await linkWith(page, "overload.codel_target=0.005&overload.codel_interval=0.1");
  await settled(page, RUNS);
  noComplaints(complaints);
  await context.close();
});

test("clients that give up and try again unfold their settings and cost capacity", async () => {
  const link = `v=1&rate=60&share=90&${SMALL}`;
  const { context, page, complaints } = await open(browser, link, { runs: RUNS });
  const before = await answer(page);
  await unfold(page, "Overload and retries");
  assert.equal(await isThere(page, "retries"), 0, "nothing fails that could be tried again");
  await type(page, "patience", "300ms");
  await linkWith(page, "clients.patience=0.3");
  await option(page, "abandoned", "Finished").click();
  await option(page, "awaits", "Whole answer").click();
  await linkWith(page, "clients.awaits=answer&clients.abandoned=finished");
  await option(page, "awaits", "First token").click();
  assert.equal(await isThere(page, "backoff"), 0);
  await control(page, "retries").slider.press("End");
  await linkWith(page, "clients.retries=10");
  await type(page, "backoff", "0");
  await linkWith(page, "clients.backoff=0");
  await settled(page, RUNS);
  const storm = await answer(page);
  assert.notDeepEqual(storm.facts, before.facts);
  await type(page, "retry-budget", "10");
  await linkWith(page, "clients.retry_budget=10");
  await option(page, "throttle", "On").click();
  await type(page, "throttle-k", "1.1");
  await linkWith(page, "clients.throttle=on&clients.throttle_k=1.1");
  await settled(page, RUNS);
  const here = await answer(page);
  const address = await page.evaluate(() => location.hash.slice(1));
  const elsewhere = await open(browser, address, { runs: RUNS });
  assert.deepEqual(await answer(elsewhere.page), here);
  await elsewhere.context.close();
  noComplaints(complaints);
  await context.close();
});

test("users take the place of the rate: how many one GPU holds, waiting or by schedule", async () => {
  const { context, page, complaints } = await open(browser, `v=1&${SMALL}`, { runs: RUNS });
  await unfold(page, "Arrivals");
  await option(page, "pattern", "Users").click();
  await linkWith(page, "arrivals=closed(1000,10s)");
  await settled(page, RUNS);
  const first = await answer(page);
  assert.match(first.headline, /for 1,000 users/);
  assert.match(await remarks(page), /Each user thinks for 10 s on average before the next request/);
  await type(page, "users", "4k");
  await type(page, "think", "30");
  await linkWith(page, "arrivals=closed(4000,30s)");
  await settled(page, RUNS);
  assert.match((await answer(page)).headline, /for 4,000 users/);
  await option(page, "pacing", "By schedule").click();
  await linkWith(page, "arrivals=closed(4000,30s,scheduled)");
  await settled(page, RUNS);
  assert.match(await remarks(page), /means to send a request every 30 s/);
  await control(page, "users").slider.press("Home");
  await linkWith(page, "arrivals=closed(1,30s,scheduled)");
  await settled(page, RUNS);
  assert.match((await answer(page)).headline, /for 1 user$/);
  await option(page, "pattern", "Poisson").click();
  await option(page, "pattern", "Users").click();
  await linkWith(page, "arrivals=closed(1,30s,scheduled)");
  noComplaints(complaints);
  await context.close();
});

test("clients react under every rules, and a class has patience of its own", async () => {
  const link = `v=1&rate=20&clients.patience=5&class.chat=share:60&${SMALL}`;
  const { context, page, complaints } = await open(browser, link, { runs: RUNS });
  const before = await answer(page);
  await unfold(page, "Engine");
  for (const [rules, written] of [["vLLM 0.33", "vllm-0.33"], ["Static", "static"]]) {
    await choose(page, "rules", rules);
    await linkWith(page, `sched.rules=${written}`);
    await settled(page, RUNS);
    assert.notEqual((await answer(page)).headline, "No answer", rules);
  }
  await choose(page, "rules", "Reference");
  await page.waitForFunction(() => !location.hash.includes("sched.rules"));
  await settled(page, RUNS);
  assert.deepEqual((await answer(page)).facts, before.facts);
  await unfold(page, "Mix of requests");
  await page.locator('[data-part="patience"] input').fill("2s");
  await page.keyboard.press("Enter");
  await linkWith(page, "class.chat=share:60,patience:2");
  await unfold(page, "Overload and retries");
  await option(page, "patience-spread", "Lognormal").click();
  await linkWith(page, "clients.patience_spread=lognormal");
  await page.locator("#control-patience-sigma").waitFor();
  noComplaints(complaints);
  await context.close();
});

test("no two elements share an id with every group open", async () => {
  const link = `v=1&rate=20&sched.rules=vllm&overload.policy=priority&arrivals=closed(50,1s)&${SMALL}`;
  const { context, page } = await open(browser, link, { runs: RUNS });
  for (const name of ["Arrivals", "Engine", "Overload and retries"]) await unfold(page, name);
  const twice = await page.evaluate(() => {
    const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
    return ids.filter((id, index) => ids.indexOf(id) !== index);
  });
  assert.deepEqual(twice, []);
  await context.close();
});
