// The npm packages, from where install.sh has put them.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const folder = process.env.ESI_PAGE_PACKAGES;
if (!folder) throw new Error("ESI_PAGE_PACKAGES is not set: run integration-tests/page/run.sh");
const require = createRequire(`${folder}/`);

export const { chromium } = require("playwright-core");
export const axeSource = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
