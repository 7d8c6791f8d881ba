/** Settings of the agent bridge. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { AgentState, ModelMapping } from "./entity.ts"
import { Flag, MaybeText, MaybeWhole, Text, Whole } from "../../store/engine/Columns.ts"
import type { StoreError } from "../../store/Errors.ts"
import * as Table from "../../store/engine/Table.ts"

export interface StoredAgentState extends AgentState {
  readonly agentId: string
}

export interface StoredMapping extends ModelMapping {
  readonly agentId: string
}

export class BridgeRepo extends Context.Tag("gateway/subjects/agentBridge/BridgeRepo")<
  BridgeRepo,
  {
    readonly states: Effect.Effect<ReadonlyArray<StoredAgentState>, StoreError>
    /** Replaces it. */
    readonly saveState: (state: StoredAgentState) => Effect.Effect<void, StoreError>
    /** Lists the mappings of all agents, each in its order. */
    readonly mappings: Effect.Effect<ReadonlyArray<StoredMapping>, StoreError>
    /** Replaces those of the agent. No source model twice. */
    readonly saveMappings: (
      agentId: string,
      mappings: ReadonlyArray<ModelMapping>,
      nowMs: number
    ) => Effect.Effect<void, StoreError>
  }
>() {}

const StateRow = Schema.Struct({
  agentId: Text,
  dnsEnabled: Flag,
  setupCompleted: Flag,
  lastStartedAtMs: MaybeWhole,
  lastError: MaybeText
})

const MappingRow = Schema.Struct({
  agentId: Text,
  sourceModel: Text,
  targetModel: Text,
  position: Whole,
  updatedAtMs: Whole
})

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const states = Table.make(sql, "bridge_agents", StateRow)
  const mappings = Table.make(sql, "bridge_mappings", MappingRow)

  /** All of it or nothing. */
  const atOnce = <A, E>(operation: string, work: Effect.Effect<A, E>): Effect.Effect<void, StoreError> =>
    work.pipe(sql.withTransaction, Effect.asVoid, Effect.mapError(Table.named(operation)))

  return BridgeRepo.of({
    states: states.select("BridgeRepo.states", sql`ORDER BY agent_id`),
    saveState: Effect.fn("BridgeRepo.saveState")((state: StoredAgentState) =>
      atOnce(
        "BridgeRepo.saveState",
        Effect.zipRight(
          states.remove("BridgeRepo.saveState", sql`agent_id = ${state.agentId}`),
          states.insert("BridgeRepo.saveState", state)
        )
      )
    ),
    mappings: mappings.select("BridgeRepo.mappings", sql`ORDER BY agent_id, position`),
    saveMappings: Effect.fn("BridgeRepo.saveMappings")(
      (agentId: string, given: ReadonlyArray<ModelMapping>, nowMs: number) =>
        atOnce(
          "BridgeRepo.saveMappings",
          Effect.zipRight(
            mappings.remove("BridgeRepo.saveMappings", sql`agent_id = ${agentId}`),
            Effect.forEach(
              given,
              ({ sourceModel, targetModel }, position) =>
                mappings.insert("BridgeRepo.saveMappings", {
                  agentId,
                  sourceModel,
                  targetModel,
                  position,
                  updatedAtMs: nowMs
                }),
              { discard: true }
            )
          )
        )
    )
  })
})

export const layer: Layer.Layer<BridgeRepo, never, SqlClient.SqlClient> = Layer.effect(BridgeRepo, make)
