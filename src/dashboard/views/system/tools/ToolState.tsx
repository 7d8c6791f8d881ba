/** Shows whether a coding tool uses this gateway. */
import type { AnswerOf } from "../../../api/client.ts"
import type { cliToolsList, cliToolsStatuses } from "../../../api/calls.generated.ts"
import { type Kind, State } from "../../../ui/State.tsx"
import { words } from "../../../words/system/tools.ts"

export type Tool = AnswerOf<typeof cliToolsList>["tools"][number]
export type Statuses = AnswerOf<typeof cliToolsStatuses>
export type ToolStatus = Statuses[string]

const kinds: Readonly<Record<ToolStatus["config"]["status"], Kind>> = {
  configured: "good",
  not_configured: "warning",
  not_installed: "quiet",
  unknown: "quiet",
  other: "warning"
}

export const ToolState = ({ status }: { readonly status: ToolStatus | undefined }) =>
  status === undefined ? (
    <State kind="quiet" icon="wait">
      {words.looking}
    </State>
  ) : (
    <State kind={kinds[status.config.status]}>{words.states[status.config.status]}</State>
  )
