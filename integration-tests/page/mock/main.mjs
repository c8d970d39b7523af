// The mock by hand: node mock/main.mjs [SLOTS] [CHANGES A SECOND] [token]; then open what it prints.
import { MockServer } from "./server.mjs";

const [slots = "64", churn = "1", auth = "none"] = process.argv.slice(2);
const mock = await new MockServer({ slots: Number(slots), auth }).start();
if (Number(churn) > 0) mock.churn(Number(churn));
console.log(mock.origin);
