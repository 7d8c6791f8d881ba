/** Shows Keys & money: spending and keys, prices, bills, and a page for each key. */
import { useLocation, useRoute } from "preact-iso"
import { limitsBudget } from "../../api/calls.generated.ts"
import { isAdministrator, reachOf } from "../../api/rights.ts"
import { useAnswer } from "../../api/queries.ts"
import { Icon } from "../../ui/Icon.tsx"
import { placeOf } from "../../ui/address/places.ts"
import { Tabs } from "../../ui/Tabs.tsx"
import { words } from "../../words/keys.ts"
import { words as moneyWords } from "../../words/keysMoney.ts"
import { useAddress } from "./address.ts"
import { Bill } from "./bill/Bill.tsx"
import { CreateKey } from "./CreateKey.tsx"
import { KeyPage } from "./key/KeyPage.tsx"
import { KeyTable } from "./KeyTable.tsx"
import { Money } from "./money/Money.tsx"
import { Prices } from "./prices/Prices.tsx"

/** What prices are and what providers charge is for who administers the gateway. */
const tabs = [
  { name: "", title: moneyWords.tabs.money, url: placeOf("keys") },
  { name: "prices", title: moneyWords.tabs.prices, url: placeOf("keys/prices") },
  { name: "bill", title: moneyWords.tabs.bill, url: placeOf("keys/bill") }
] as const

const Spending = () => {
  const budgets = useAnswer({ key: ["budgets"], ask: (signal) => limitsBudget({ signal }) })
  return (
    <>
      <Money budgets={budgets.value.data} />
      <KeyTable budgets={budgets} />
    </>
  )
}

export const Keys = () => {
  const { id = "" } = useRoute().params
  const { query, set } = useAddress()
  const { route } = useLocation()
  if (id !== "" && id !== "prices" && id !== "bill") return <KeyPage key={id} id={id} />
  const mayGive = reachOf("giveKeys") !== "none"
  return (
    <div class="stack keys-view">
      <header class="view-head">
        <h1>{words.title}</h1>
        {mayGive && (
          <button
            type="button"
            class="button main-action"
            onClick={() => (id === "" ? set({ create: "1" }) : route(`${placeOf("keys")}?create=1`))}
          >
            <Icon name="add" /> {words.create}
          </button>
        )}
      </header>
      {isAdministrator() && <Tabs label={moneyWords.tabs.label} tabs={tabs} shown={id} />}
      {id === "prices" ? <Prices /> : id === "bill" ? <Bill /> : <Spending />}
      <CreateKey isOpen={mayGive && id === "" && query["create"] === "1"} onClose={() => set({ create: "" })} />
    </div>
  )
}
