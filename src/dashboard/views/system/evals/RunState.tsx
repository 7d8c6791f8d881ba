/** Shows where a run stands, and how far it is. */
import type { AnswerOf } from "../../../api/client.ts"
import type { evalsOverview } from "../../../api/calls.generated.ts"
import { jobs } from "../../../live/jobs.ts"
import { JobProgress } from "../../../ui/jobs/Jobs.tsx"
import type { Kind } from "../../../ui/State.tsx"

type Run = AnswerOf<typeof evalsOverview>["recentRuns"][number]
export type Suite = AnswerOf<typeof evalsOverview>["suites"][number]

export const runKinds: Readonly<Record<Run["status"], Kind>> = {
  running: "trial",
  completed: "good",
  failed: "bad",
  cancelled: "quiet"
}

/** Shows how far a run is, by the live feed where it has told something. */
export const RunProgress = ({ run }: { readonly run: Pick<Run, "id" | "summary"> }) => {
  const told = jobs.value.find(({ id, kind }) => kind === "evaluation" && id === run.id)
  const { failed, passed, total } = run.summary
  return <JobProgress done={told?.done ?? passed + failed} total={told?.total ?? total} />
}
