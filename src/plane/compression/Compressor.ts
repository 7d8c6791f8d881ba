/** Runs engines over the texts of a request. Pure, but for what `Stability` remembers and what engines keep. */
import * as Effect from "effect/Effect"
import type { WireName } from "../../contract/domain/Wire.ts"
import type { JsonObject } from "../../wire/json/Json.ts"
import { type PlacedBlock, readBlocks, withTexts } from "./Blocks.ts"
import type { Block, Engine, EngineName, EngineTools } from "./Engine.ts"
import { withoutRepeats } from "./engines/Repeats.ts"
import { type KeptOutcomes, type TurnOutcome, turnNames } from "./Stability.ts"

export interface Change {
  readonly path: ReadonlyArray<string | number>
  readonly before: string
  readonly after: string
}

/** Changes of one engine: the texts that it shortened. */
export interface EngineWork {
  readonly engine: EngineName
  readonly changes: ReadonlyArray<Pick<Change, "before" | "after">>
  readonly elapsedMs: number
}

export interface Compressed {
  /** The same object where nothing is changed. */
  readonly body: JsonObject
  readonly changes: ReadonlyArray<Change>
  readonly perEngine: ReadonlyArray<EngineWork>
  /** An engine threw: its text went on without it. */
  readonly failures: ReadonlyArray<{ readonly engine: EngineName; readonly cause: unknown }>
}

export interface CompressOptions {
  readonly wire: WireName
  readonly body: JsonObject
  /** One after the other; none: everything stays, and stays so in the session. */
  readonly engines: ReadonlyArray<Engine>
  readonly tools: EngineTools
  /** Owner of the conversation. */
  readonly owner: string
  /** All turns go out as they came, whatever they were before in their conversation, and stay so in it. */
  readonly asTheyCame: boolean
  /** Null: nothing is remembered (a preview). */
  readonly stability: KeptOutcomes | null
  readonly monotonicMs: () => number
}

/** Characters of a text, and of a result of a tool, beyond which it stays as it is: an engine takes some 50 ms for as many, in which nothing else runs. */
const maxTextChars = 524_288
const maxResultChars = 2_097_152

const isTooLong = ({ kind, text }: PlacedBlock): boolean =>
  text.length > (kind === "text" ? maxTextChars : maxResultChars)

class Run {
  readonly failures: Array<{ readonly engine: EngineName; readonly cause: unknown }> = []
  readonly #works: ReadonlyArray<{
    readonly engine: Engine
    changes: Array<Pick<Change, "before" | "after">>
    ms: number
  }>
  readonly #tools: EngineTools
  readonly #monotonicMs: () => number

  constructor({ engines, monotonicMs, tools }: CompressOptions) {
    this.#works = engines.map((engine) => ({ engine, changes: [], ms: 0 }))
    this.#tools = tools
    this.#monotonicMs = monotonicMs
  }

  /** Null: it stays as it is. */
  block(block: PlacedBlock, repeat: string | null): string | null {
    if (isTooLong(block)) return null
    let { text } = block
    for (const work of this.#works) {
      const startedMs = this.#monotonicMs()
      const smaller = this.#by(work.engine, { ...block, text, repeat })
      work.ms += this.#monotonicMs() - startedMs
      if (smaller === null || smaller.length >= text.length) continue
      work.changes.push({ before: text, after: smaller })
      text = smaller
    }
    return text === block.text ? null : text
  }

  #by(engine: Engine, block: Block): string | null {
    try {
      return engine.compress(block, this.#tools)
    } catch (cause) {
      this.failures.push({ engine: engine.name, cause })
      return null
    }
  }

  perEngine(): ReadonlyArray<EngineWork> {
    return this.#works.map(({ changes, engine, ms }) => ({ engine: engine.name, changes, elapsedMs: ms }))
  }
}

const byTurn = (blocks: ReadonlyArray<PlacedBlock>): ReadonlyMap<number, ReadonlyArray<PlacedBlock>> => {
  const turns = new Map<number, Array<PlacedBlock>>()
  for (const block of blocks) {
    const of = turns.get(block.turn)
    if (of === undefined) turns.set(block.turn, [block])
    else of.push(block)
  }
  return turns
}

const repeatsIn = (blocks: ReadonlyArray<PlacedBlock>): ReadonlyMap<PlacedBlock, string | null> => {
  const results = blocks.filter(({ kind }) => kind === "tool-result")
  const references = withoutRepeats(results)
  return new Map(results.map((block, index) => [block, references[index] ?? null]))
}

/**
 * The system text, the last thing that a person says, and everything up to the client's last cache mark stay as they are. A turn that was seen
 * before in its conversation is what it was then, unless the client wants all turns as they came.
 */
function* steps(options: CompressOptions): Generator<void, Compressed> {
  const { asTheyCame, body, owner, stability, wire } = options
  const { blocks, lastMarkedTurn, lastUserTurn, turns } = readBlocks(wire, body)
  const run = new Run(options)
  const names = stability === null ? [] : turnNames(owner, turns)
  const changes: Array<Change> = []
  const repeats = repeatsIn(blocks)
  const remember = (turn: number, outcome: TurnOutcome): TurnOutcome => {
    const name = names[turn]
    if (name !== undefined) stability?.keep(name, outcome)
    return outcome
  }
  for (const [turn, own] of byTurn(blocks)) {
    if (turn < 0) continue
    const name = names[turn]
    const isProtected = turn === lastUserTurn || turn <= lastMarkedTurn
    let outcome = name === undefined || asTheyCame ? undefined : stability?.known(name)
    if (outcome === undefined) {
      const made: Array<string | null> = []
      for (const block of own) {
        made.push(isProtected || asTheyCame ? null : run.block(block, repeats.get(block) ?? null))
        yield
      }
      outcome = remember(turn, made)
    }
    for (const [index, { path, text }] of own.entries()) {
      const after = outcome[index] ?? null
      if (after !== null) changes.push({ path, before: text, after })
    }
  }
  return {
    body:
      changes.length === 0
        ? body
        : withTexts(
            body,
            changes.map(({ after, path }) => ({ path, text: after }))
          ),
    changes,
    perEngine: run.perEngine(),
    failures: run.failures
  }
}

/** Compresses at once. */
export const compress = (options: CompressOptions): Compressed => {
  const work = steps(options)
  let step = work.next()
  while (step.done !== true) step = work.next()
  return step.value
}

/** Milliseconds after which others have their turn. */
const sliceMs = 10

/** The same, text by text, with others in between: long conversations do not keep the gateway from its other requests. `pause`: until they had their turn. */
export const compressInSlices = (options: CompressOptions, pause: Effect.Effect<void>): Effect.Effect<Compressed> =>
  Effect.suspend(() => {
    const work = steps(options)
    const slice = (): Effect.Effect<Compressed> => {
      const untilMs = options.monotonicMs() + sliceMs
      let step = work.next()
      while (step.done !== true && options.monotonicMs() < untilMs) step = work.next()
      return step.done === true ? Effect.succeed(step.value) : Effect.flatMap(pause, slice)
    }
    return slice()
  })
