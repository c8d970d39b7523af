// The page's modules for Node: they lie in a folder that no package.json calls a package of modules, so they are copied
// into one that is.
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { output } from "./browser.mjs";

const source = new URL("../../../operators/interface/page/", import.meta.url);
const target = `${output}/../modules-${process.pid}`;
mkdirSync(target, { recursive: true });
writeFileSync(`${target}/package.json`, '{"type": "module"}');
cpSync(source, target, { recursive: true, filter: (path) => !/\.(cpp|h)$/.test(path) });
process.on("exit", () => rmSync(target, { recursive: true, force: true }));

export const load = (name) => import(`${target}/${name}`);
