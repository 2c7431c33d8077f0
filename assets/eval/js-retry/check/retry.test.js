import test from "node:test";
import assert from "node:assert/strict";
import { retry } from "./retry.js";

const failing = (failures) => {
  let calls = 0;
  return async () => {
    if (calls++ < failures) throw new Error(`failed ${calls}`);
    return "done";
  };
};

test("a later try counts", async () => assert.equal(await retry(failing(2), 3), "done"));
test("the last error is thrown", async () => assert.rejects(retry(failing(9), 2), /failed 3/));
