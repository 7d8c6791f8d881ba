/** Step 3: what a check has found, in words. */
import type { AnswerOf } from "../../../api/client.ts"
import type { providersValidate } from "../../../api/calls.generated.ts"
import { State } from "../../../ui/State.tsx"
import { count, duration, visible } from "../../../ui/format.ts"
import { words } from "../../../words/addProvider.ts"

export type Findings = AnswerOf<typeof providersValidate>

export const Check = ({ findings, hasKey }: { readonly findings: Findings; readonly hasKey: boolean }) => {
  const { error, latencyMs, models, status, valid } = findings
  const isReached = status !== null || valid
  return (
    <ul class="findings">
      <li>
        {isReached ? (
          <State kind="good">{words.reachable(duration(latencyMs))}</State>
        ) : (
          <State kind="bad">{words.notReachable}</State>
        )}
      </li>
      <li>
        {valid ? (
          <State kind="good">{hasKey ? words.accepted : words.noKeyAccepted}</State>
        ) : (
          <State kind="bad">
            <span>
              {words.refused} {visible(error ?? "")}
            </span>
          </State>
        )}
      </li>
      {valid && (
        <li>
          {models === null ? (
            <State kind="quiet">{words.noModels}</State>
          ) : (
            <State kind="good">{words.models(count(models.count), models.count)}</State>
          )}
        </li>
      )}
      {valid && models !== null && models.unpriced > 0 && (
        <li>
          <State kind="warning">{words.unpriced(count(models.unpriced))}</State>
        </li>
      )}
    </ul>
  )
}
