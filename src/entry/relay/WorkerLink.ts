/** A worker's end of the way to the owner (`plane/state/link/OwnerLink`). It connects again until the worker ends. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import { connect, type Socket } from "node:net"
import { makeSignal } from "../../kernel/collections/Signal.ts"
import type { ProcessRole } from "../../platform/programs/Siblings.ts"
import { Timers } from "../../platform/Timers.ts"
import { OwnerLink } from "../../plane/state/link/OwnerLink.ts"
import { build } from "./build.ts"
import { LinkLines, type LinkMessage, readLines } from "./LinkLines.ts"
import { linkSocket } from "./OwnerLinks.ts"

/** Time in ms between tries to connect. */
const retryMs = 100

type Then = (answer: unknown) => void

class Way {
  readonly changes = makeSignal<boolean>()
  readonly #role: ProcessRole
  readonly #timers: typeof Timers.Service
  readonly #listeners = new Map<string, Set<(body: unknown) => void>>()
  readonly #asked = new Map<number, Then>()
  #lastQuestion = 0
  #lines: LinkLines | null = null
  #socket: Socket | null = null
  #isOver = false

  constructor(role: ProcessRole, timers: typeof Timers.Service) {
    this.#role = role
    this.#timers = timers
  }

  get isUp(): boolean {
    return this.#lines !== null
  }

  open(): void {
    if (this.#isOver) return
    const { folder, life, place } = this.#role
    const socket = connect({ path: linkSocket(folder) })
    const lines = new LinkLines(socket, this.#timers.soon)
    this.#socket = socket
    socket.on("error", () => socket.destroy())
    socket.on("connect", () => lines.send({ place, life, build }))
    socket.on("close", () => this.#closed())
    readLines(socket, (message) => {
      if (this.#lines !== null) return this.#take(message)
      // The owner's hello.
      this.#lines = lines
      this.changes.tell(true)
    })
  }

  close(): void {
    this.#isOver = true
    this.#socket?.end()
  }

  send(topic: string, body: unknown): void {
    this.#lines?.send({ t: topic, b: body })
  }

  ask(topic: string, body: unknown, then: Then): void {
    if (this.#lines === null) return then(null)
    const question = (this.#lastQuestion += 1)
    this.#asked.set(question, then)
    this.#lines.send({ t: topic, b: body, q: question })
  }

  listen(topic: string, listener: (body: unknown) => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set()
    this.#listeners.set(topic, listeners.add(listener))
    return () => void listeners.delete(listener)
  }

  #take({ b, r, t }: LinkMessage): void {
    if (r !== undefined) {
      const then = this.#asked.get(r)
      this.#asked.delete(r)
      return then?.(b ?? null)
    }
    if (t === undefined) return
    for (const listener of this.#listeners.get(t) ?? []) listener(b)
  }

  #closed(): void {
    const wasUp = this.#lines !== null
    this.#lines = null
    const asked = [...this.#asked.values()]
    this.#asked.clear()
    for (const then of asked) then(null)
    if (wasUp) this.changes.tell(false)
    if (!this.#isOver) this.#timers.after(retryMs, () => this.open())
  }
}

const make = (role: ProcessRole): Effect.Effect<typeof OwnerLink.Service, never, Timers | Scope.Scope> =>
  Effect.gen(function* () {
    const way = new Way(role, yield* Timers)
    const runFork = Runtime.runFork(yield* Effect.runtime<never>())
    way.changes.listen((isUp) => {
      if (!isUp) runFork(Effect.logDebug("The way to the owner of the data folder is closed."))
    })
    yield* Effect.acquireRelease(
      Effect.sync(() => way.open()),
      () => Effect.sync(() => way.close())
    )
    return OwnerLink.of({
      send: (topic, body) => way.send(topic, body),
      ask: (topic, body, then) => way.ask(topic, body, then),
      listen: (topic, listener) => way.listen(topic, listener),
      isUp: () => way.isUp,
      watch: way.changes.listen
    })
  })

export const layer = (role: ProcessRole): Layer.Layer<OwnerLink, never, Timers> => Layer.scoped(OwnerLink, make(role))
