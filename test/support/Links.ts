/** An owner and workers in one process. What they send is delivered when the test says so, in order for each way; a worker or the owner may end at any message. */
import type { OwnerLink } from "../../src/plane/state/link/OwnerLink.ts"
import { nameOf, type WorkerId, type WorkerLinks } from "../../src/plane/state/link/WorkerLinks.ts"

type Take = (worker: WorkerId, body: unknown, answer: (answer: unknown) => void) => void

interface Way {
  readonly id: WorkerId
  readonly toOwner: Array<() => void>
  readonly toWorker: Array<() => void>
  readonly listeners: Map<string, Set<(body: unknown) => void>>
  readonly watchers: Set<(isUp: boolean) => void>
  readonly asked: Set<(answer: unknown) => void>
  isUp: boolean
}

export interface Links {
  readonly owner: typeof WorkerLinks.Service
  /** A new life at a place. */
  readonly join: (place: number) => { readonly id: WorkerId; readonly link: typeof OwnerLink.Service }
  /** Ends the process of a worker: what it has sent arrives first where `loses` is false. */
  readonly kill: (worker: WorkerId, loses?: boolean) => void
  /** Ends the process of the owner: what is on its way is lost. `then` starts another one, before workers reach it. */
  readonly restart: (then: () => void) => void
  /** Messages that wait, by way: `2.1>` to the owner, `>2.1` to the worker. */
  readonly waiting: () => ReadonlyArray<string>
  /** Delivers the first message of a way. */
  readonly deliver: (way: string) => void
  /** Delivers everything, and what comes of it. */
  readonly settle: () => void
}

/** Copies as a message between processes is: what is no JSON is lost. */
const copied = (body: unknown): unknown => (body === undefined ? undefined : JSON.parse(JSON.stringify(body)))

export const makeLinks = (): Links => {
  const ways = new Map<string, Way>()
  const takers = new Map<string, Take>()
  const joined = new Set<(worker: WorkerId) => void>()
  const left = new Set<(worker: WorkerId) => void>()
  const lives = new Map<number, number>()

  const told = (way: Way, topic: string, body: unknown): void => {
    const sent = copied(body)
    way.toWorker.push(() => {
      for (const listener of way.listeners.get(topic) ?? []) listener(sent)
    })
  }

  const owner: typeof WorkerLinks.Service = {
    serve: (topic, take) => {
      takers.set(topic, take)
      return () => void takers.delete(topic)
    },
    tell: (worker, topic, body) => {
      const way = ways.get(nameOf(worker))
      if (way !== undefined) told(way, topic, body)
    },
    tellAll: (topic, body, except) => {
      for (const way of ways.values()) {
        if (except === undefined || nameOf(way.id) !== nameOf(except)) told(way, topic, body)
      }
    },
    workers: () => [...ways.values()].map(({ id }) => id),
    begin: () => {},
    onJoined: (listener) => {
      joined.add(listener)
      return () => void joined.delete(listener)
    },
    onLeft: (listener) => {
      left.add(listener)
      return () => void left.delete(listener)
    }
  }

  const linkOf = (way: Way): typeof OwnerLink.Service => {
    const sent = (topic: string, body: unknown, answer: (answer: unknown) => void): void => {
      const message = copied(body)
      way.toOwner.push(() => takers.get(topic)?.(way.id, message, answer))
    }
    return {
      send: (topic, body) => {
        if (way.isUp) sent(topic, body, () => {})
      },
      ask: (topic, body, then) => {
        if (!way.isUp) return then(null)
        const once = (answer: unknown): void => {
          if (way.asked.delete(once)) then(answer)
        }
        way.asked.add(once)
        sent(topic, body, (answer) => {
          const back = copied(answer)
          way.toWorker.push(() => once(back))
        })
      },
      listen: (topic, listener) => {
        const listeners = way.listeners.get(topic) ?? new Set()
        way.listeners.set(topic, listeners.add(listener))
        return () => void listeners.delete(listener)
      },
      isUp: () => way.isUp,
      watch: (listener) => {
        way.watchers.add(listener)
        return () => void way.watchers.delete(listener)
      }
    }
  }

  const deliver = (name: string): void => {
    const isToOwner = name.endsWith(">")
    const way = ways.get(isToOwner ? name.slice(0, -1) : name.slice(1))
    const queue = isToOwner ? way?.toOwner : way?.toWorker
    queue?.shift()?.()
  }

  const waiting = (): ReadonlyArray<string> => {
    const names: Array<string> = []
    for (const [name, { toOwner, toWorker }] of ways) {
      if (toOwner.length > 0) names.push(`${name}>`)
      if (toWorker.length > 0) names.push(`>${name}`)
    }
    return names
  }

  return {
    owner,
    join: (place) => {
      const life = (lives.get(place) ?? 0) + 1
      lives.set(place, life)
      const id = { place, life }
      const way: Way = {
        id,
        toOwner: [],
        toWorker: [],
        listeners: new Map(),
        watchers: new Set(),
        asked: new Set(),
        isUp: true
      }
      ways.set(nameOf(id), way)
      for (const listener of joined) listener(id)
      return { id, link: linkOf(way) }
    },
    kill: (worker, loses = false) => {
      const way = ways.get(nameOf(worker))
      if (way === undefined) return
      if (!loses) while (way.toOwner.length > 0) way.toOwner.shift()?.()
      way.isUp = false
      ways.delete(nameOf(worker))
      for (const listener of left) listener(worker)
    },
    restart: (then) => {
      takers.clear()
      joined.clear()
      left.clear()
      for (const way of ways.values()) {
        way.isUp = false
        way.toOwner.length = 0
        way.toWorker.length = 0
        for (const once of way.asked) once(null)
        for (const watcher of way.watchers) watcher(false)
      }
      then()
      for (const way of ways.values()) {
        way.isUp = true
        for (const watcher of way.watchers) watcher(true)
      }
    },
    waiting,
    deliver,
    settle: () => {
      for (let [next] = waiting(); next !== undefined; [next] = waiting()) deliver(next)
    }
  }
}
