/** The models of an account with facts and prices, and its list asked for again. */
import { providersModels } from "../../../api/calls.generated.ts"
import { State } from "../../../ui/State.tsx"
import { Time } from "../../../ui/Time.tsx"
import { count, visible } from "../../../ui/format.ts"
import { useWork } from "../../../ui/useWork.ts"
import { toast } from "../../../ui/toasts.tsx"
import { words } from "../../../words/account.ts"
import { ofAccounts } from "../actions.ts"
import { ModelList } from "../models/ModelList.tsx"
import type { Connection } from "../names.ts"

/** The list itself is shown by the catalogue. */
const countOnly = { limit: 1 }

export const AccountModels = ({ connection: { id, modelList } }: { readonly connection: Connection }) => {
  const { isBusy, run } = useWork([...ofAccounts, "models"])
  const ask = (): void =>
    void run(async () => {
      const { error, total } = await providersModels({ path: { id }, query: { refresh: "true", ...countOnly } })
      if (error === null) toast("good", words.models.refreshed(count(total)))
      else toast("bad", visible(error))
    })
  return (
    <section class="card stack" aria-labelledby="models">
      <div class="card-head">
        <h2 id="models">{words.models.title}</h2>
        <button type="button" class="button" disabled={isBusy.value} onClick={ask}>
          {isBusy.value ? words.models.refreshing : words.models.refresh}
        </button>
      </div>
      {modelList === null ? (
        <p class="quiet">{words.models.never}</p>
      ) : (
        <>
          {modelList.learnedAt !== null && (
            <p class="quiet">
              {words.models.learned} <Time at={modelList.learnedAt} />.
            </p>
          )}
          {modelList.error !== null && (
            <State kind="warning">
              {words.models.failed} {visible(modelList.error)}
            </State>
          )}
        </>
      )}
      <ModelList connectionId={id} />
    </section>
  )
}
