"""What is around a gateway: services somebody else runs, and the commands of its description.

build → prepare → (the gateway) → teardown. Services are only looked at.
"""

from collections.abc import Callable
from contextlib import ExitStack

from orchestrator.commands import run_commands
from orchestrator.description import GatewayConfig
from orchestrator.faults import ServicesMissing
from orchestrator.launching import Surroundings, environment_for
from orchestrator.locate import Located
from orchestrator.services import check_services

Say = Callable[[str], None]
_LOG = "commands.log"


def require_services(config: GatewayConfig, near: Surroundings) -> None:
    """Look at every service.

    Raises:
        ServicesMissing: Some are not there; names all of them.
    """
    environment = environment_for(config, near, config.port or 1).values
    states = check_services(config.services, environment)
    missing = [one.line() for one in states if one.fault is not None]
    if missing:
        raise ServicesMissing(missing)


def prepare(
    config: GatewayConfig, located: Located, near: Surroundings, *, undo: ExitStack, say: Say
) -> None:
    """Run the build, then the prepare commands; from then on ``undo`` holds the teardown.

    Raises:
        CommandFailed: One ended with another status than 0.
    """
    environment = environment_for(config, near, config.port or 1).values
    log = near.generated / _LOG
    for key, commands in (("build", config.build), ("prepare", config.prepare)):
        if key == "prepare" and config.prepare:
            undo.callback(tear_down, config, located, near)
        for command in commands:
            say(f"{key}: {' '.join(command)}")
        run_commands(key, commands, folder=located.folder, environment=environment, log=log)


def tear_down(config: GatewayConfig, located: Located, near: Surroundings) -> None:
    """Run the teardown commands.

    Raises:
        CommandFailed: One ended with another status than 0.
    """
    if not config.teardown:
        return
    near.generated.mkdir(mode=0o700, parents=True, exist_ok=True)
    run_commands(
        "teardown",
        config.teardown,
        folder=located.folder,
        environment=environment_for(config, near, config.port or 1).values,
        log=near.generated / _LOG,
    )
