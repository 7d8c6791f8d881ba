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
import { MonthBill } from "./month/MonthBill.tsx"
import { Prices } from "./prices/Prices.tsx"

const tabs = [
  { name: "", title: moneyWords.tabs.money, url: placeOf("keys") },
  { name: "month", title: moneyWords.tabs.month, url: placeOf("keys/month") },
  { name: "prices", title: moneyWords.tabs.prices, url: placeOf("keys/prices") },
  { name: "bill", title: moneyWords.tabs.bill, url: placeOf("keys/bill") }
] as const

/** Prices, and bills of providers to compare, are for who administers the gateway. */
const openTabs = () => tabs.filter(({ name }) => isAdministrator() || name === "" || name === "month")

const Spending = () => {
  const budgets = useAnswer({ key: ["budgets"], ask: (signal) => limitsBudget({ signal }) })
  return (
    <>
      <Money budgets={budgets.value.data} />
      <KeyTable budgets={budgets} />
    </>
  )
}

const Part = ({ id }: { readonly id: string }) => {
  switch (id) {
    case "month":
      return <MonthBill />
    case "prices":
      return <Prices />
    case "bill":
      return <Bill />
    default:
      return <Spending />
  }
}

export const Keys = () => {
  const { id = "" } = useRoute().params
  const { query, set } = useAddress()
  const { route } = useLocation()
  if (!tabs.some(({ name }) => name === id)) return <KeyPage key={id} id={id} />
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
      <Tabs label={moneyWords.tabs.label} tabs={openTabs()} shown={id} />
      <Part id={id} />
      <CreateKey isOpen={mayGive && id === "" && query["create"] === "1"} onClose={() => set({ create: "" })} />
    </div>
  )
}
