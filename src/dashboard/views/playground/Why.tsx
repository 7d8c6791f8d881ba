/** Says in short why a request went where it went; the view of requests has all of it. */
import { routingDecision } from "../../api/calls.generated.ts"
import { useAnswer } from "../../api/queries.ts"
import { Answered } from "../../ui/Answered.tsx"
import { Dialog } from "../../ui/dialogs/Dialog.tsx"
import { visible } from "../../ui/format.ts"
import { placeOf } from "../../ui/address/places.ts"
import { words } from "../../words/playground.ts"

interface Properties {
  readonly requestId: string
  readonly model: string
  readonly isOpen: boolean
  readonly onClose: () => void
}

const Short = ({ requestId }: { readonly requestId: string }) => {
  const answer = useAnswer({
    key: ["decision", requestId],
    ask: (signal) => routingDecision({ path: { requestId }, signal })
  })
  return (
    <Answered of={answer} height={160}>
      {({ decision }) => (
        <div class="stack">
          <p>
            {words.ordered(decision.strategy)} {visible(decision.reason ?? "")}
          </p>
          <table class="plain-table">
            <thead>
              <tr>
                <th>{words.target}</th>
                <th class="number">{words.score}</th>
              </tr>
            </thead>
            <tbody>
              {decision.candidates
                .toSorted((one, other) => (other.score ?? 0) - (one.score ?? 0))
                .slice(0, 8)
                .map((candidate) => (
                  <tr key={`${candidate.connectionId} ${candidate.model}`}>
                    <td>
                      {visible(`${candidate.provider}/${candidate.model}`)}{" "}
                      <span class="quiet">{visible(candidate.excluded?.detail ?? "")}</span>
                    </td>
                    <td class="number">{candidate.score === null ? words.noScore : candidate.score.toFixed(2)}</td>
                  </tr>
                ))}
            </tbody>
          </table>
        </div>
      )}
    </Answered>
  )
}

export const Why = ({ isOpen, model, onClose, requestId }: Properties) => (
  <Dialog title={words.whyTitle(visible(model))} isOpen={isOpen} onClose={onClose}>
    <Short requestId={requestId} />
    <div class="buttons">
      <a class="button" href={placeOf(`requests/${encodeURIComponent(requestId)}`)}>
        {words.wholeDecision}
      </a>
    </div>
  </Dialog>
)
