// The mock by hand: node mock/main.mjs [SLOTS] [CHANGES A SECOND] [token|none] [large]; then open what it prints.
import { MockServer } from "./server.mjs";

const [slots = "64", churn = "1", auth = "none", size = ""] = process.argv.slice(2);
const mock = await new MockServer({ slots: Number(slots), auth, large: size === "large" }).start();
if (Number(churn) > 0) mock.churn(Number(churn));
console.log(mock.origin);
