"""Turns of users in the queue for the model."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest
from conftest import until

from mkdocs_contentgen.served.turns import QueueFullError, Turns


@pytest.mark.parametrize(
    ("waiting", "gives_way"),
    [
        pytest.param({"ann": 1}, False, id="one-and-none"),
        pytest.param({"ann": 2}, True, id="two-and-none"),
        pytest.param({"ann": 2, "bob": 1}, False, id="two-and-one"),
        pytest.param({"ann": 3, "bob": 1}, True, id="three-and-one"),
        pytest.param({"ann": 2, "bob": 2}, False, id="the-same"),
    ],
)
def test_who_gives_way_in_a_full_queue(waiting: dict[str, int], gives_way: bool) -> None:
    """Whoever has most gives a place to Bob, unless Bob would then have more than that one."""

    async def main() -> None:
        turns = Turns(1, 1 + sum(waiting.values()))
        left: list[str] = []

        async def wait(user: str) -> None:
            try:
                async with turns.slot(user):
                    pass
            except QueueFullError:
                left.append(user)

        async with AsyncExitStack() as stack:
            await stack.enter_async_context(turns.slot("held"))
            tasks = [
                asyncio.create_task(wait(user))
                for user, number in waiting.items()
                for _ in range(number)
            ]
            await until(lambda: len(turns) == len(tasks))
            tasks.append(asyncio.create_task(wait("bob")))
            await until(lambda: left)
            assert left == (["ann"] if gives_way else ["bob"])
        await asyncio.gather(*tasks)

    asyncio.run(main())
