// The page of an esi-scheduling that runs: ESI_PAGE_URL says where, ESI_PAGE_TOKEN is a bearer token for it where it wants
// one. Its namespace has at least one Testbed with slots. Nothing is tested where no server is named.
import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { findings } from "../lib/axe.mjs";
import { bounded, launch, live, looking, picture } from "../lib/browser.mjs";

const url = process.env.ESI_PAGE_URL?.replace(/\/$/, "");
const token = process.env.ESI_PAGE_TOKEN ?? "";
const asked = (path, headers = {}) => fetch(`${url}${path}`, { headers: { ...(token ? { Authorization: `Bearer ${token}` } : {}), ...headers } });
const json = async (path) => (await asked(path)).json();

if (url) {
  let browser;
  let testbed;
  before(async () => {
    browser = await launch();
    testbed = (await json("/api/v1/testbeds")).items.find((each) => (each.status.counts?.total ?? 0) > 0);
    assert.ok(testbed, "a Testbed with slots");
  });
  after(() => browser.close());

  async function visit(hash, look) {
    await looking(browser, url, { path: `/${hash}`, expected: ["401"] }, async (page, watched) => {
      if (token) {
        await page.locator("#token").fill(token);
        await page.keyboard.press("Enter");
      }
      await live(page);
      await look(page, watched);
    });
  }
  const key = () => `${testbed.metadata.namespace}/${testbed.metadata.name}`;

  test("real: the page has its policy and is not sent twice; other requests for / are answered as before", bounded, async () => {
    const page = await fetch(`${url}/`, { headers: { Accept: "text/html" } });
    assert.equal(page.status, 200);
    assert.match(page.headers.get("content-security-policy"), /^default-src 'none'; script-src 'self';/);
    assert.equal(page.headers.get("x-content-type-options"), "nosniff");
    const tag = page.headers.get("etag");
    assert.equal((await fetch(`${url}/`, { headers: { "Accept": "text/html", "If-None-Match": tag } })).status, 304);
    assert.equal((await fetch(`${url}/`, { headers: { Accept: "application/json" } })).status, 404);
    assert.equal((await fetch(`${url}/`, { method: "POST", headers: { Accept: "text/html" } })).status, 404);
  });

  test("real: the slots are those of the interface", bounded, () =>
    visit(`#/slots/${key()}?form=table`, async (page) => {
      await page.locator("tbody tr").first().waitFor();
      await page.waitForTimeout(500);
      const { items } = await json(`/api/v1/namespaces/${testbed.metadata.namespace}/testbeds/${testbed.metadata.name}/slots?limit=100`);
      const rows = await page.locator("tbody tr").evaluateAll((all) => all.map((each) => [...each.cells].map((cell) => cell.innerText.trim())));
      assert.deepEqual(rows.map((each) => [each[0], each[1]]), items.map((each) => [String(each.position), each.nodeName]));
      await picture(page, "real-slots-table");
    }));

  test("real: the overview has the Testbed with its slots, and each Scheduling", bounded, () =>
    visit("#/overview", async (page) => {
      const { items } = await json("/api/v1/schedulings?limit=10");
      await page.getByRole("link", { name: key(), exact: true }).first().waitFor();
      for (const { metadata } of items) await page.getByRole("link", { name: `${metadata.namespace}/${metadata.name}`, exact: true }).first().waitFor();
      await picture(page, "real-overview");
      assert.deepEqual(await findings(page), []);
    }));

  for (const view of ["slots", "timeline", "queue", "matrix"]) {
    test(`real: ${view}`, bounded, () =>
      visit(`#/${view}/${key()}`, async (page) => {
        await page.waitForTimeout(1500);
        await picture(page, `real-${view}`);
        assert.equal(await page.locator("[role=alert]").count(), 0, "nothing is refused");
        assert.ok((await page.locator("main").innerText()).length > 20);
        assert.deepEqual(await findings(page), []);
      }));
  }

  test("real: each job is listed, and tells its story", bounded, () =>
    visit("#/jobs", async (page) => {
      const { items } = await json("/api/v1/jobs?limit=100");
      const names = await page.locator("tbody th").allInnerTexts();
      assert.deepEqual(names.sort(), items.map((each) => `${each.metadata.namespace}/${each.metadata.name}`).sort());
      if (items.length === 0) return;
      await page.locator("tbody th a").first().click();
      await page.getByRole("heading", { name: "Story" }).waitFor();
      await page.waitForTimeout(1000);
      await picture(page, "real-job");
      const { namespace, name } = items.find((each) => names[0].endsWith(`/${each.metadata.name}`)).metadata;
      const { items: runs } = await json(`/api/v1/namespaces/${namespace}/jobs/${name}/runs`);
      assert.equal(await page.locator("table.runs tbody tr").count(), runs.length);
    }));
}
