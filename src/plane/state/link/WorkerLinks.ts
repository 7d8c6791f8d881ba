/** The ways from the owner of the data folder to its workers. Only an owner has it. */
import * as Context from "effect/Context"
import type { Unlisten } from "./OwnerLink.ts"

/** A worker's life: its place among the workers, and a number that grows with every process there. What an earlier life holds is not this one's. */
export interface WorkerId {
  /** From 1. */
  readonly place: number
  readonly life: number
}

/** Name of a life, for maps and logs: `2.17`. */
export const nameOf = ({ life, place }: WorkerId): string => `${place}.${life}`

/** Answers a message that was asked; what was only sent has no use for it. */
export type Answer = (answer: unknown) => void

export class WorkerLinks extends Context.Tag("gateway/plane/state/link/WorkerLinks")<
  WorkerLinks,
  {
    /** Takes the messages of a topic, those of each worker in order. */
    readonly serve: (topic: string, take: (worker: WorkerId, body: unknown, answer: Answer) => void) => Unlisten
    readonly tell: (worker: WorkerId, topic: string, body: unknown) => void
    /** Tells all workers but one. */
    readonly tellAll: (topic: string, body: unknown, except?: WorkerId) => void
    readonly workers: () => ReadonlyArray<WorkerId>
    /** Lets workers connect, once every topic is served. Until then they have no owner. */
    readonly begin: () => void
    /** Calls `listener` when a worker has come. */
    readonly onJoined: (listener: (worker: WorkerId) => void) => Unlisten
    /** Calls `listener` when the process of a worker has ended, after the last of its messages. */
    readonly onLeft: (listener: (worker: WorkerId) => void) => Unlisten
  }
>() {}
