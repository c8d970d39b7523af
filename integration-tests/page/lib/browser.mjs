// Debian's Chromium, and pages in it that may talk to one origin only: any other request is stopped and fails the test.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { chromium } from "./packages.mjs";

const flags = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--font-render-hinting=none", ...(process.getuid() === 0 ? ["--no-sandbox"] : [])];
export const output = process.env.ESI_PAGE_OUTPUT ?? "build/page-tests/output";

export const launch = () => chromium.launch({ executablePath: "/usr/bin/chromium", headless: true, args: flags });

/** A page at `origin`; `page.watched` has what went wrong in it, and `close()` asserts that nothing did. */
export async function open(browser, origin, { path = "/", width = 1280, height = 800, scheme = "light", motion = "no-preference", expected = [] } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, reducedMotion: motion, locale: "en-GB", timezoneId: "Europe/Berlin" });
  const watched = { strangers: [], errors: [], urls: [] };
  await context.route("**/*", (route) => {
    const url = route.request().url();
    watched.urls.push(url);
    if (new URL(url).origin === origin || url.startsWith("data:")) return route.continue();
    watched.strangers.push(url);
    return route.abort();
  });
  const page = await context.newPage();
  page.on("pageerror", (error) => watched.errors.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error" && !expected.some((each) => message.text().includes(each))) watched.errors.push(`${message.text()} ${message.location().url}`);
  });
  await page.goto(origin + path);
  return {
    page,
    context,
    watched,
    async close() {
      await context.close();
      assert.deepEqual(watched.strangers, [], "requests to another origin");
      assert.deepEqual(watched.errors, [], "errors in the page");
    },
  };
}

export async function picture(page, name) {
  mkdirSync(output, { recursive: true });
  await page.screenshot({ path: `${output}/${name}.png`, animations: "disabled" });
}

/** The counts of stats.js. */
export const statsOf = (page) => page.evaluate(async () => ({ ...(await import("/page/stats.js")).stats }));

export const live = (page) => page.locator("#connection", { hasText: "Live" }).waitFor({ timeout: 30_000 });
