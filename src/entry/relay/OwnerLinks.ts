/** The owner's ends of the ways to its workers (`plane/state/link/WorkerLinks`): a socket file that they connect to. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import { rmSync } from "node:fs"
import { createServer, type Server, type Socket } from "node:net"
import { asSentence } from "../../kernel/text/Sentence.ts"
import { makeSignal } from "../../kernel/collections/Signal.ts"
import type { SiblingWorkers } from "../../platform/programs/SiblingWorkers.ts"
import { Timers } from "../../platform/Timers.ts"
import { type Answer, nameOf, type WorkerId, WorkerLinks } from "../../plane/state/link/WorkerLinks.ts"
import { ListenFailed } from "../listening/Listener.ts"
import { LinkLines, type LinkMessage, readLines } from "./LinkLines.ts"
import { build } from "./build.ts"

/** Socket file of the ways in the folder of the processes. */
export const linkSocket = (folder: string): string => `${folder}/link`

interface Way {
  readonly id: WorkerId
  readonly lines: LinkLines
}

type Take = (worker: WorkerId, body: unknown, answer: Answer) => void

const noAnswer: Answer = () => {}

const listen = (server: Server, path: string): Effect.Effect<void, ListenFailed> =>
  Effect.async((resume) => {
    rmSync(path, { force: true })
    server.once("error", ({ message }) => {
      resume(Effect.fail(new ListenFailed({ message: `The socket ${path} cannot be opened: ${asSentence(message)}` })))
    })
    server.listen({ path, exclusive: true }, () => resume(Effect.void))
  })

/** The ways that are open, and the workers whose processes have ended. */
class Ways {
  readonly #open = new Map<string, Way>()
  readonly #takers = new Map<string, Take>()
  /** Those that have come too early. */
  #early: Array<Way> | null = []
  /** Processes that have ended before their messages are taken. */
  #endedEarly: Array<WorkerId> = []
  /** Ended processes whose last messages are still to be read. */
  readonly #ended = new Map<string, WorkerId>()
  readonly joined = makeSignal<WorkerId>()
  readonly left = makeSignal<WorkerId>()
  readonly #soon: (run: () => void) => void
  readonly #warn: (message: string) => void

  constructor(soon: (run: () => void) => void, warn: (message: string) => void) {
    this.#soon = soon
    this.#warn = warn
  }

  readonly accept = (socket: Socket): void => {
    const lines = new LinkLines(socket, this.#soon)
    let way: Way | null = null
    socket.on("error", () => socket.destroy())
    socket.on("close", () => this.#closed(way))
    readLines(socket, (message) => {
      if (way !== null) return this.#take(way, message)
      const { build: theirs, life, place } = message
      if (place === undefined || life === undefined || theirs !== build) {
        this.#warn(`A worker of another build (${String(theirs)}, this is ${build}) was turned away.`)
        return void socket.destroy()
      }
      way = { id: { place, life }, lines }
      if (this.#early === null) this.#admit(way)
      else this.#early.push(way)
    })
  }

  begin(): void {
    const early = this.#early ?? []
    this.#early = null
    for (const way of early) this.#admit(way)
    for (const worker of this.#endedEarly.splice(0)) this.ended(worker)
  }

  #admit(way: Way): void {
    this.#open.set(nameOf(way.id), way)
    way.lines.send({ place: 0, life: 0, build })
    this.joined.tell(way.id)
  }

  /** The process of a worker has ended. */
  ended(worker: WorkerId): void {
    if (this.#early !== null) return void this.#endedEarly.push(worker)
    if (this.#open.has(nameOf(worker))) this.#ended.set(nameOf(worker), worker)
    else this.left.tell(worker)
  }

  serve(topic: string, take: Take): () => void {
    this.#takers.set(topic, take)
    return () => {
      if (this.#takers.get(topic) === take) this.#takers.delete(topic)
    }
  }

  tell(worker: WorkerId, topic: string, body: unknown): void {
    this.#open.get(nameOf(worker))?.lines.send({ t: topic, b: body })
  }

  tellAll(topic: string, body: unknown, except?: WorkerId): void {
    const left = except === undefined ? null : nameOf(except)
    for (const [name, { lines }] of this.#open) if (name !== left) lines.send({ t: topic, b: body })
  }

  all(): ReadonlyArray<WorkerId> {
    return [...this.#open.values()].map(({ id }) => id)
  }

  #take({ id, lines }: Way, { b, q, t }: LinkMessage): void {
    if (t === undefined) return
    const take = this.#takers.get(t)
    if (q === undefined) return take?.(id, b, noAnswer)
    if (take === undefined) return lines.send({ r: q, b: null })
    take(id, b, (answer) => lines.send({ r: q, b: answer }))
  }

  #closed(way: Way | null): void {
    if (way === null) return
    this.#early = this.#early?.filter((one) => one !== way) ?? null
    const name = nameOf(way.id)
    if (this.#open.get(name) === way) this.#open.delete(name)
    if (this.#ended.delete(name)) this.left.tell(way.id)
  }
}

const make = (folder: string, workers: SiblingWorkers) =>
  Effect.gen(function* () {
    const { soon } = yield* Timers
    const runFork = Runtime.runFork(yield* Effect.runtime<never>())
    const ways = new Ways(soon, (message) => void runFork(Effect.logError(message)))
    const sockets = new Set<Socket>()
    const server = createServer((socket) => {
      sockets.add(socket)
      socket.on("close", () => sockets.delete(socket))
      ways.accept(socket)
    })
    const unheed = workers.onLeft((worker) => ways.ended(worker))
    yield* Effect.acquireRelease(listen(server, linkSocket(folder)), () =>
      Effect.sync(() => {
        unheed()
        server.close()
        for (const socket of sockets) socket.destroy()
      })
    )
    return WorkerLinks.of({
      serve: (topic, take) => ways.serve(topic, take),
      tell: (worker, topic, body) => ways.tell(worker, topic, body),
      tellAll: (topic, body, except) => ways.tellAll(topic, body, except),
      workers: () => ways.all(),
      begin: () => ways.begin(),
      onJoined: ways.joined.listen,
      onLeft: ways.left.listen
    })
  })

export const layer = (folder: string, workers: SiblingWorkers): Layer.Layer<WorkerLinks, ListenFailed, Timers> =>
  Layer.scoped(WorkerLinks, make(folder, workers))
