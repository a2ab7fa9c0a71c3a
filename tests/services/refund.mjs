// Drives the tool `refund` over MCP from the first call to the result: node refund.mjs URL
import assert from "node:assert/strict";

const url = process.argv[2];
const TASKS = "io.modelcontextprotocol/tasks";
let id = 0;

async function ask(method, params) {
  const name = params.name ?? params.taskId;
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} }, extensions: { [TASKS]: {} } },
  };
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(name ? { "mcp-name": name } : {}),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: ++id, method, params: { ...params, _meta: meta } }),
  });
  const message = await response.json();
  assert.ok(message.result, `${method}: ${JSON.stringify(message)}`);
  return message.result;
}

async function see(taskId, status) {
  for (let turn = 0; turn < 300; turn++) {
    const task = await ask("tasks/get", { taskId });
    if (task.status === status) return task;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`the task does not become ${status}: ${JSON.stringify(await ask("tasks/get", { taskId }))}`);
}

const { tools } = await ask("tools/list", {});
const tool = tools.find((tool) => tool.name === "refund");
assert.deepEqual(tool?.inputSchema.properties.orderId.type, "string");
const bad = await ask("tools/call", { name: "refund", arguments: { orderId: 7 } });
assert.equal(bad.isError, true);

for (const [approved, status] of [[true, "refunded"], [false, "declined"]]) {
  const { taskId, resultType } = await ask("tools/call", { name: "refund", arguments: { orderId: "o-1", amount: 12.5 } });
  assert.equal(resultType, "task");
  const asking = await see(taskId, "input_required");
  const [[key, question]] = Object.entries(asking.inputRequests);
  assert.match(question.params.message, /Refund 12.5\d* for order o-1/);
  await ask("tasks/update", { taskId, inputResponses: { [key]: { action: "accept", content: { approved } } } });
  const done = await see(taskId, "completed");
  assert.equal(done.result.structuredContent.status, status);
}
const { taskId } = await ask("tools/call", { name: "refund", arguments: { orderId: "o-2", amount: 1 } });
await see(taskId, "input_required");
await ask("tasks/cancel", { taskId });
await see(taskId, "cancelled");
