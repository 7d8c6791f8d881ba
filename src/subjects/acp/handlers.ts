/** `/api/acp/agents`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { Acp } from "./routes.ts"
import { NotFound } from "../../contract/Errors.ts"
import type { AgentList } from "./routes.ts"
import { AcpAgents, type AgentStatus } from "../../agents/tools/AcpAgents.ts"
import { acpAgents } from "../../agents/tools/catalogue/Tools.ts"
import { answered, badField } from "../../entry/handling/Answers.ts"
import { atTheMachine } from "../../entry/handling/AtTheMachine.ts"

const listOf = (agents: ReadonlyArray<AgentStatus>): AgentList => {
  const installed = agents.filter((agent) => agent.installed).length
  const custom = agents.filter((agent) => agent.isCustom).length
  return {
    agents: agents.map(({ binary, id, installed: isThere, isCustom, name, protocol, version }) => ({
      id,
      name,
      binary,
      version,
      installed: isThere,
      protocol,
      isCustom
    })),
    summary: {
      total: agents.length,
      installed,
      notFound: agents.length - installed,
      builtIn: agents.length - custom,
      custom
    }
  }
}

const atMachine = atTheMachine("Adding an agent")

export const layer = HttpApiBuilder.group(contractOf(Acp), "acp", (handlers) =>
  Effect.map(AcpAgents, (agents) =>
    handlers
      .handle("list", () => answered(Effect.map(agents.list(false), listOf)))
      .handle("change", ({ payload: { action, binary, id, name, protocol, providerAlias, spawnArgs } }) =>
        Effect.gen(function* () {
          const isRefresh = action === "refresh" || (action === undefined && id === undefined)
          if (!isRefresh) {
            yield* atMachine
            if (id === undefined) return yield* badField("id", "is missing")
            if (binary === undefined) return yield* badField("binary", "is missing")
            yield* answered(
              agents
                .add({
                  id,
                  name: name ?? id,
                  binary,
                  protocol: protocol ?? "stdio",
                  spawnArgs: spawnArgs ?? [],
                  providerAlias: providerAlias ?? null
                })
                .pipe(Effect.catchTag("AgentRefused", ({ message, param }) => badField(param, message)))
            )
          }
          return listOf(yield* answered(agents.list(isRefresh)))
        })
      )
      .handle("remove", ({ urlParams: { id } }) =>
        Effect.flatMap(answered(agents.remove(id)), (removed) =>
          removed
            ? Effect.void
            : new NotFound({
                message: acpAgents.some((agent) => agent.id === id)
                  ? `'${id}' is an agent that the gateway knows; it cannot be removed.`
                  : `There is no agent '${id}'.`,
                param: "id"
              })
        )
      )
  )
)
