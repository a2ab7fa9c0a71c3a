// The refund service on the TypeScript SDK: asks a human by an ordinary durable call.
import * as restate from "@restatedev/restate-sdk";

const approval = {
  type: "object",
  properties: { approved: { type: "boolean", title: "Approve" }, comment: { type: "string", maxLength: 200 } },
  required: ["approved"],
};

const input = {
  contentType: "application/json",
  jsonSchema: {
    type: "object",
    properties: { orderId: { type: "string" }, amount: { type: "number", minimum: 0 }, delayMs: { type: "integer", minimum: 0 } },
    required: ["orderId", "amount"],
  },
  serialize: (value) => new TextEncoder().encode(JSON.stringify(value)),
  deserialize: (bytes) => JSON.parse(new TextDecoder().decode(bytes)),
};

const refund = restate.service({
  name: "Refund",
  metadata: { "holdfast.expose": "mcp,a2a", "holdfast.agent": "refund" },
  options: { inactivityTimeout: 1000 },
  handlers: {
    refund: restate.createServiceHandler(
      {
        input,
        description: "Refunds an order, once a human has approved it.",
        metadata: { "holdfast.tool": "refund", "holdfast.title": "Refund an order", "holdfast.asks": "true" },
      },
      async (ctx, { orderId, amount, delayMs }) => {
        await ctx.run("reserve-amount", () => `${orderId}:${amount}`);
        if (delayMs) await ctx.sleep(delayMs);
        const answer = await ctx.genericCall({
          service: "holdfast.Human",
          method: "ask",
          parameter: { message: `Refund ${amount} for order ${orderId}?`, schema: approval, to: "approvers" },
          inputSerde: restate.serde.json,
          outputSerde: restate.serde.json,
        });
        const approved = answer.action === "accept" && answer.content.approved;
        if (!approved) return { status: "declined", orderId, amount };
        await ctx.run("pay-back", () => `${orderId}:${amount}`);
        return { status: "refunded", orderId, amount };
      },
    ),
  },
});

restate.serve({ services: [refund], port: Number(process.env.PORT ?? 9080) });
