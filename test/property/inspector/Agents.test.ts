/**
 * Several agents of several programs at once, as they come: no break is told where none is. Then one of them changes something, and that is told of
 * it alone. The provider is played and shares no code with what is tested.
 */
import { assert, describe, it } from "@effect/vitest"
import * as FC from "effect/FastCheck"
import type { WireName } from "../../../src/contract/domain/Wire.ts"
import type { CacheFinding } from "../../../src/observe/inspector/cache/CacheCall.ts"
import { CacheFinder } from "../../../src/observe/inspector/cache/CacheFinder.ts"
import type { JsonObject } from "../../../src/wire/json/Json.ts"
import { bodyOf, eventsOf, retold, system, tools } from "../../unit/inspector/cache/Conversations.ts"
import { PlayedCache } from "../../unit/inspector/cache/PromptCaches.ts"
import { counted } from "../../support/slowRun.ts"

const run = { seed: 20_261_126, numRuns: counted(15, 60) }

interface Agent {
  readonly name: string
  /** Programs share tools and system prompt between their conversations. */
  readonly program: number
  readonly keepsReasoning: boolean
  turn: number
  lastMs: number
}

const ttlMs = 300_000

class Office {
  readonly #finder = new CacheFinder({ priceOf: () => null })
  readonly #cache: PlayedCache
  readonly #wire: WireName
  #count = 0

  constructor(wire: WireName) {
    this.#wire = wire
    this.#cache = new PlayedCache(wire === "messages" ? "claude" : "openai")
  }

  ask({ keepsReasoning, name, program, turn }: Agent, atMs: number, rules = ""): CacheFinding {
    const model = this.#wire === "messages" ? "claude-sonnet-4-5" : "gpt-5.1"
    const provider = this.#wire === "messages" ? "anthropic" : "openai"
    const events = eventsOf(turn, keepsReasoning).map((event) =>
      "text" in event ? retold(event, `${event.text} (${name})`) : event
    )
    const offered = tools.map((tool) => Object.assign({}, tool, { description: `${program} ${tool.description}` }))
    const body = bodyOf(this.#wire, { tools: offered, system: `${rules}Program ${program}. ${system}`, events })
    this.#count += 1
    return this.#finder.observe({
      id: `call-${this.#count}`,
      atMs,
      answeredAtMs: atMs + 500,
      wire: this.#wire,
      provider,
      account: "a",
      model,
      askedModel: model,
      body: body as JsonObject,
      sent: null,
      isRouted: false,
      isAnswered: true,
      reported: this.#cache.ask({ provider, account: "a", model, wire: this.#wire, body, atMs })
    })
  }
}

const steps = FC.array(FC.record({ agent: FC.nat(3), waitMs: FC.integer({ min: 1_000, max: 40_000 }) }), {
  minLength: 8,
  maxLength: 36
})
const wires = FC.constantFrom<WireName>("messages", "chat", "responses")

const agents = (): ReadonlyArray<Agent> =>
  [0, 1, 2, 3].map((at) => ({ name: `agent ${at}`, program: at % 2, keepsReasoning: at === 1, turn: 0, lastMs: 0 }))

describe("agents that work side by side", () => {
  it("break no cache as long as each of them goes on in time", () => {
    FC.assert(
      FC.property(wires, steps, (wire, plan) => {
        const office = new Office(wire)
        const staff = agents()
        let atMs = 1_000_000
        for (const { agent: index, waitMs } of plan) {
          atMs += waitMs
          const agent = staff[index]
          if (agent === undefined || (agent.turn > 0 && atMs - agent.lastMs > ttlMs)) continue
          agent.turn += 1
          agent.lastMs = atMs
          const finding = office.ask(agent, atMs)
          assert.isNull(finding.cause, `${agent.name}, turn ${agent.turn}: ${JSON.stringify(finding)}`)
        }
      }),
      run
    )
  })

  it("are told of one by one", () => {
    FC.assert(
      FC.property(wires, steps, FC.nat(3), (wire, plan, guilty) => {
        const office = new Office(wire)
        const staff = agents()
        let atMs = 1_000_000
        for (const { agent: index } of [...plan, ...[0, 1, 2, 3, 0, 1, 2, 3].map((agent) => ({ agent }))]) {
          atMs += 2_000
          const agent = staff[index]
          if (agent === undefined) continue
          agent.turn += 1
          assert.isNull(office.ask(agent, atMs).cause)
        }
        for (const [index, agent] of staff.entries()) {
          atMs += 2_000
          agent.turn += 1
          const finding = office.ask(agent, atMs, index === guilty ? "Now it is noon. " : "")
          assert.strictEqual(
            finding.cause?.rule ?? null,
            index === guilty ? "system_changed" : null,
            JSON.stringify(finding)
          )
        }
      }),
      run
    )
  })
})
