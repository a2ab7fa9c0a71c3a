"""The refund service on the Python SDK: asks a human by an ordinary durable call."""
import asyncio
import json
import os
from datetime import timedelta

import restate
from hypercorn.asyncio import serve
from hypercorn.config import Config
from pydantic import BaseModel, Field

APPROVAL = {
    "type": "object",
    "properties": {"approved": {"type": "boolean", "title": "Approve"}, "comment": {"type": "string", "maxLength": 200}},
    "required": ["approved"],
}



class Order(BaseModel):
    orderId: str
    amount: float = Field(ge=0)
    delayMs: int = Field(default=0, ge=0)


class Refunded(BaseModel):
    status: str
    orderId: str
    amount: float


refunds = restate.Service(
    "Refund",
    metadata={"holdfast.expose": "mcp,a2a", "holdfast.agent": "refund"},
    inactivity_timeout=timedelta(seconds=1),
)


@refunds.handler(
    metadata={"holdfast.tool": "refund", "holdfast.title": "Refund an order", "holdfast.asks": "true"},
)
async def refund(ctx: restate.Context, order: Order) -> Refunded:
    """Refunds an order, once a human has approved it."""
    order_id, amount = order.orderId, order.amount
    await ctx.run_typed("reserve-amount", lambda: f"{order_id}:{amount}")
    if order.delayMs:
        await ctx.sleep(timedelta(milliseconds=order.delayMs))
    question = {"message": f"Refund {amount} for order {order_id}?", "schema": APPROVAL, "to": "approvers"}
    answer = json.loads(await ctx.generic_call("holdfast.Human", "ask", json.dumps(question).encode()))
    if answer["action"] != "accept" or not answer["content"]["approved"]:
        return Refunded(status="declined", orderId=order_id, amount=amount)
    await ctx.run_typed("pay-back", lambda: f"{order_id}:{amount}")
    return Refunded(status="refunded", orderId=order_id, amount=amount)


if __name__ == "__main__":
    config = Config()
    config.bind = [f"127.0.0.1:{os.environ.get('PORT', '9080')}"]
    asyncio.run(serve(restate.app([refunds]), config))
