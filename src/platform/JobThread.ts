/**
 * Does jobs on a thread of its own, one after the other. The thread starts with the first job and ends when it has been idle for a while. A job
 * that takes too long is given up together with its thread, and a thread that died is started again for the next job.
 */
import * as Effect from "effect/Effect"
import type { Scope } from "effect/Scope"
import { type ResourceLimits, type TransferListItem, Worker } from "node:worker_threads"
import { type Timer, Timers } from "./Timers.ts"

export interface ThreadFile {
  readonly file: URL
  readonly resourceLimits: ResourceLimits
  readonly workerData?: unknown
}

/** Result of a job. `Late`: it took too long. `Died`: the thread did, as `reason` goes on to say. `Closed`: nothing is done any more. */
export type Outcome<Answer> =
  | { readonly _tag: "Answered"; readonly answer: Answer }
  | { readonly _tag: "Late" }
  | { readonly _tag: "Died"; readonly reason: string }
  | { readonly _tag: "Closed" }

export interface ThreadMessage {
  readonly message: object
  readonly transfer?: ReadonlyArray<TransferListItem>
}

export interface JobThreadOptions<Job, Answer> {
  readonly thread: ThreadFile
  /** Time limit in ms of a job, the start of the thread included. */
  readonly timeoutMs: number
  /** Returns the time in ms without work after which the thread ends. */
  readonly idleMs: () => number
  /** Takes what is done next, together, from the beginning of the queue; absent: one job. */
  readonly take?: (waiting: Array<Job>) => ReadonlyArray<Job>
  /** Makes the message for the thread, which answers with the `id` that is added to it. */
  readonly message: (jobs: ReadonlyArray<Job>) => ThreadMessage
  /** Called once for all jobs that were taken together. */
  readonly done: (jobs: ReadonlyArray<Job>, outcome: Outcome<Answer>) => void
  /** Called when the thread has ended, with all that it knew. */
  readonly ended?: () => void
  /** Does the jobs here where no thread can start (a Node that reads no TypeScript, from source); absent: they fail. */
  readonly doHere?: (jobs: ReadonlyArray<Job>) => Promise<Answer>
}

interface Running<Job> {
  readonly id: number
  readonly jobs: ReadonlyArray<Job>
  readonly patience: Timer
}

/** Threads that were given up and may still run: a statement of SQLite cannot be stopped from outside. */
const mostAbandoned = 2

const late = { _tag: "Late" } as const
const closed = { _tag: "Closed" } as const
const takeOne = <Job>(waiting: Array<Job>): ReadonlyArray<Job> => waiting.splice(0, 1)

const startWorker = ({ file, resourceLimits, workerData }: ThreadFile): Worker => {
  const worker = new Worker(file, { workerData, execArgv: [], env: {}, resourceLimits })
  // An idle thread must not keep the process alive.
  worker.unref()
  return worker
}

export class JobThread<Job, Answer> {
  readonly #timers: Pick<typeof Timers.Service, "after">
  readonly #options: JobThreadOptions<Job, Answer>
  readonly #waiting: Array<Job> = []
  #worker: Worker | null = null
  #running: Running<Job> | null = null
  #idle: Timer | null = null
  #abandoned = 0
  #lastId = 0
  #isClosed = false
  /** The thread has done something. One that never has cannot be started here. */
  #hasWorked = false
  #isHere = false

  constructor(timers: Pick<typeof Timers.Service, "after">, options: JobThreadOptions<Job, Answer>) {
    this.#timers = timers
    this.#options = options
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  get isRunning(): boolean {
    return this.#worker !== null
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** Adds a job, which begins with the next call of `start`. */
  add(job: Job): void {
    this.#waiting.push(job)
  }

  /** Takes a job out of the queue; false: it is not there any more. */
  remove(job: Job): boolean {
    const place = this.#waiting.indexOf(job)
    if (place >= 0) this.#waiting.splice(place, 1)
    return place >= 0
  }

  /** Begins the next jobs unless some are being done. */
  start(): void {
    if (this.#running !== null || this.#isClosed) return
    // A thread more for each job that was given up would add up.
    if (this.#worker === null && this.#abandoned >= mostAbandoned) return
    const jobs = (this.#options.take ?? takeOne)(this.#waiting)
    if (jobs.length === 0) return this.#endWhenIdle()
    this.#stayAwake()
    this.#lastId += 1
    const patience = this.#timers.after(this.#options.timeoutMs, () => {
      this.#hasWorked = true
      this.#stop()
      this.#finish(late)
    })
    this.#running = { id: this.#lastId, jobs, patience }
    if (this.#isHere && this.#options.doHere !== undefined) return void this.#doHere(this.#options.doHere, jobs)
    const { message, transfer = [] } = this.#options.message(jobs)
    this.#ready().postMessage({ id: this.#lastId, ...message }, transfer)
  }

  close(): void {
    this.#isClosed = true
    this.#stop()
    for (const job of this.#waiting.splice(0)) this.#options.done([job], closed)
    this.#finish(closed)
  }

  #ready(): Worker {
    if (this.#worker !== null) return this.#worker
    const started = startWorker(this.#options.thread)
    started.on("message", (answer: Answer & { readonly id: number }) => {
      this.#hasWorked = true
      if (started === this.#worker && answer.id === this.#running?.id) this.#finish({ _tag: "Answered", answer })
    })
    started.on("error", (error: NodeJS.ErrnoException) => {
      // What was too much for the thread must not be done here.
      if (error.code === "ERR_WORKER_OUT_OF_MEMORY") this.#hasWorked = true
      this.#died(started, `died: ${error.message}`)
    })
    started.on("exit", () => this.#died(started, "ended."))
    this.#worker = started
    return started
  }

  #died(worker: Worker, reason: string): void {
    if (worker !== this.#worker) return
    this.#stop()
    const { doHere } = this.#options
    if (this.#hasWorked || this.#running === null || doHere === undefined) return this.#finish({ _tag: "Died", reason })
    this.#isHere = true
    void this.#doHere(doHere, this.#running.jobs)
  }

  async #doHere(doHere: (jobs: ReadonlyArray<Job>) => Promise<Answer>, jobs: ReadonlyArray<Job>): Promise<void> {
    const outcome = await doHere(jobs).then(
      (answer): Outcome<Answer> => ({ _tag: "Answered", answer }),
      (error: unknown): Outcome<Answer> => ({ _tag: "Died", reason: `failed: ${String(error)}` })
    )
    if (jobs === this.#running?.jobs) this.#finish(outcome)
  }

  #finish(outcome: Outcome<Answer>): void {
    const finished = this.#running
    this.#running = null
    if (finished === null) return
    finished.patience.cancel()
    this.#options.done(finished.jobs, outcome)
    this.start()
  }

  #stop(): void {
    this.#stayAwake()
    const stopped = this.#worker
    this.#worker = null
    if (stopped === null) return
    this.#options.ended?.()
    this.#abandoned += 1
    const over = (): void => {
      this.#abandoned -= 1
      this.start()
    }
    stopped.terminate().then(over, over)
  }

  #stayAwake(): void {
    this.#idle?.cancel()
    this.#idle = null
  }

  #endWhenIdle(): void {
    if (this.#worker !== null) this.#idle ??= this.#timers.after(this.#options.idleMs(), () => this.#stop())
  }
}

export interface QuestionLimits<Question> {
  /** Most questions that wait, and most of what they weigh together; one alone may weigh any amount. */
  readonly maxWaiting: number
  readonly maxWeight?: number
  readonly weightOf?: (question: Question) => number
}

interface Asked<Question, Answer> {
  readonly question: Question
  readonly weight: number
  readonly done: (outcome: Outcome<Answer>) => void
}

export interface QuestionOptions<Question, Answer>
  extends Pick<JobThreadOptions<Question, Answer>, "thread" | "timeoutMs">, QuestionLimits<Question> {
  readonly idleMs: number
  readonly message: (question: Question) => ThreadMessage
  readonly answerHere?: (question: Question) => Promise<Answer>
}

/**
 * Makes a thread that answers questions; it ends with the scope. `Full`: too much waits. An interruption takes the question out of the queue;
 * one that is being answered goes on, so that callers who interrupt and ask again cannot start more work at once.
 */
export const makeQuestions = <Question, Answer>({
  answerHere,
  idleMs,
  maxWaiting,
  maxWeight = Number.POSITIVE_INFINITY,
  message,
  thread,
  timeoutMs,
  weightOf = () => 0
}: QuestionOptions<Question, Answer>): Effect.Effect<
  (question: Question) => Effect.Effect<Outcome<Answer> | { readonly _tag: "Full" }>,
  never,
  Timers | Scope
> =>
  Effect.gen(function* () {
    let weight = 0
    const jobs = new JobThread<Asked<Question, Answer>, Answer>(yield* Timers, {
      thread,
      timeoutMs,
      idleMs: () => idleMs,
      take: (waiting) => {
        const next = waiting.splice(0, 1)
        for (const taken of next) weight -= taken.weight
        return next
      },
      message: (asked) => asked.map(({ question }) => message(question))[0] ?? { message: {} },
      done: (asked, outcome) => {
        for (const { done } of asked) done(outcome)
      },
      ...(answerHere === undefined
        ? {}
        : { doHere: ([asked]) => (asked === undefined ? Promise.reject() : answerHere(asked.question)) })
    })
    yield* Effect.addFinalizer(() => Effect.sync(() => jobs.close()))
    return (question) =>
      Effect.async((resume) => {
        if (jobs.isClosed) return resume(Effect.succeed(closed))
        const asked = {
          question,
          weight: weightOf(question),
          done: (outcome: Outcome<Answer>) => resume(Effect.succeed(outcome))
        }
        const isTooHeavy = weight > 0 && weight + asked.weight > maxWeight
        if (isTooHeavy || jobs.waiting >= maxWaiting) return resume(Effect.succeed({ _tag: "Full" }))
        weight += asked.weight
        jobs.add(asked)
        jobs.start()
        return Effect.sync(() => {
          if (jobs.remove(asked)) weight -= asked.weight
        })
      })
  })
