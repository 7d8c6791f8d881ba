/** Shows who has to wait before another login, and lets them log in again. */
import { policiesAct, policiesClear, policiesGet } from "../../../api/calls.generated.ts"
import { useAnswer } from "../../../api/queries.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { State } from "../../../ui/State.tsx"
import { visible } from "../../../ui/format.ts"
import { words } from "../../../words/system/sessions.ts"
import { useWork } from "../../../ui/useWork.ts"

export const Locks = () => {
  const locks = useAnswer({ key: ["locks"], ask: (signal) => policiesGet({ signal }) })
  const { isBusy, run } = useWork(["locks"])
  return (
    <section class="card">
      <h2>{words.locks}</h2>
      <Answered of={locks} height={80}>
        {({ lockedIdentifiers }) =>
          lockedIdentifiers.length === 0 ? (
            <p class="quiet">{words.noLocks}</p>
          ) : (
            <div class="stack">
              <ul class="rows">
                {lockedIdentifiers.map((identifier) => (
                  <li key={identifier}>
                    <State kind="warning">
                      {identifier === "*" ? words.everybody : <code>{visible(identifier)}</code>}
                    </State>
                    <button
                      type="button"
                      class="button"
                      disabled={isBusy.value}
                      onClick={() =>
                        void run(() => policiesAct({ body: { action: "unlock", identifier } }), words.unlocked)
                      }
                    >
                      {words.unlock}
                    </button>
                  </li>
                ))}
              </ul>
              <div class="buttons">
                <button
                  type="button"
                  class="button"
                  disabled={isBusy.value}
                  onClick={() => void run(() => policiesClear(), words.unlocked)}
                >
                  {words.unlockAll}
                </button>
              </div>
            </div>
          )
        }
      </Answered>
    </section>
  )
}
