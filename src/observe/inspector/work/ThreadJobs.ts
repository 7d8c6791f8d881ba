/** Jobs of the thread. */
import * as Either from "effect/Either"
import { type Attribution, type ClientSocket, makeAttribution, type Owner } from "../Attribution.ts"
import { type ImportedExchange, type InvalidHar, readHar } from "../exports/HarImport.ts"
import type { CacheFinding } from "../cache/CacheCall.ts"
import { type CacheJob, type JudgeCall, makeJudge } from "../cache/CacheJob.ts"
import { makeHeadMasker } from "../masking/HeadMasker.ts"
import { type ExchangeJob, type ExchangeReport, performExchange } from "./Exchange.ts"
import { type View, type ViewJob, viewOf } from "./ViewJobs.ts"
import { perform, type Report, type Task } from "./Work.ts"

export type Job =
  | { readonly kind: "task"; readonly task: Task }
  | { readonly kind: "exchange"; readonly exchange: ExchangeJob }
  | { readonly kind: "har"; readonly bytes: Uint8Array }
  | { readonly kind: "owner"; readonly socket: ClientSocket }
  | { readonly kind: "cache"; readonly job: CacheJob }
  | { readonly kind: "view"; readonly job: ViewJob }

export type HarReport =
  | { readonly exchanges: ReadonlyArray<ImportedExchange> }
  | { readonly problem: Pick<InvalidHar, "reason" | "message"> }

export interface Reports {
  readonly task: Report
  readonly exchange: ExchangeReport
  readonly har: HarReport
  readonly owner: Owner | null
  readonly cache: CacheFinding | null
  readonly view: View
}

type ReportOf = (job: Job) => Promise<Reports[keyof Reports]>

const harReport = (bytes: Uint8Array): HarReport => {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8")
  return Either.match(readHar(text), {
    onLeft: ({ message, reason }) => ({ problem: { message, reason } }),
    onRight: (exchanges) => ({ exchanges })
  })
}

/** Makes the runner of jobs, with the state that one job leaves for the next. */
export const makeJobs = (): ReportOf => {
  let attribution: Attribution | null = null
  let judge: JudgeCall | null = null
  const masker = makeHeadMasker()
  return async (job) => {
    switch (job.kind) {
      case "task":
        return perform(job.task)
      case "exchange":
        judge ??= makeJudge()
        return performExchange(job.exchange, judge, masker)
      case "har":
        return harReport(job.bytes)
      case "owner":
        attribution ??= makeAttribution("/proc", () => performance.now())
        return attribution.ownerOf(job.socket)
      case "cache":
        judge ??= makeJudge()
        return judge(job.job)
      case "view":
        return viewOf(job.job)
    }
  }
}
