/** Shows the automatic ids, what each prefers, and of how many it chooses. */
import { combosAuto } from "../../api/calls.generated.ts"
import { useAnswer } from "../../api/queries.ts"
import { Answered } from "../../ui/Answered.tsx"
import { State } from "../../ui/State.tsx"
import { visible } from "../../ui/format.ts"
import { placeOf } from "../../ui/address/places.ts"
import { meaningOfAuto, words } from "../../words/routingParts.ts"

export const AutoIds = () => {
  const ids = useAnswer({
    key: ["combos", "auto"],
    ask: (signal) => combosAuto({ query: { view: "summary" }, signal })
  })
  return (
    <>
      <p class="quiet">{words.auto.hint}</p>
      <Answered of={ids} height={400}>
        {({ combos }) => (
          <div class="scroller card" tabIndex={0} role="region" aria-label={words.auto.list}>
            <table class="plain-table">
              <thead>
                <tr>
                  <th>{words.auto.columns.id}</th>
                  <th>{words.auto.columns.means}</th>
                  <th>{words.auto.columns.candidates}</th>
                  <th>{words.auto.columns.actions}</th>
                </tr>
              </thead>
              <tbody>
                {combos.map(({ candidateCount, id, isHidden }) => (
                  <tr key={id}>
                    <th scope="row">
                      <code>{visible(id)}</code>
                    </th>
                    <td>
                      {meaningOfAuto(id)}
                      {isHidden && (
                        <>
                          {" "}
                          <State kind="quiet">{words.auto.hidden}</State>
                        </>
                      )}
                    </td>
                    <td>
                      {candidateCount === 0 ? (
                        <State kind="warning">{words.auto.candidates(0)}</State>
                      ) : (
                        words.auto.candidates(candidateCount)
                      )}
                    </td>
                    <td>
                      <a class="button" href={placeOf(`routing/auto?model=${encodeURIComponent(id)}`)}>
                        {words.auto.where}
                      </a>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Answered>
    </>
  )
}
