/** Cost and requests day by day, and the last requests, as far as the rights of the person reach. */
import { usageLogs, usageSeries } from "../../../api/calls.generated.ts"
import { useAnswer } from "../../../api/queries.ts"
import { reachesOthers, reachOf } from "../../../api/rights.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { placeOf } from "../../../ui/address/places.ts"
import { words } from "../../../words/person.ts"
import { words as own } from "../../../words/me.ts"
import { Table } from "../Requests.tsx"
import { Chart, height, lastDays } from "../Spend.tsx"

const mostRequests = 25

export const SpendByDay = () => {
  const series = useAnswer({
    key: ["person", "series"],
    ask: (signal) => usageSeries({ query: lastDays(), signal })
  })
  return (
    <section class="card" aria-label={own.spend}>
      <h2>{own.spend}</h2>
      <p class="quiet">{words.of[reachOf("readFigures")]}</p>
      <Answered of={series} height={height + 40}>
        {(answer) => <Chart answer={answer} />}
      </Answered>
    </section>
  )
}

export const LastRequests = () => {
  const logs = useAnswer({
    key: ["person", "logs"],
    ask: (signal) => usageLogs({ query: { limit: mostRequests }, signal })
  })
  return (
    <section class="card" aria-label={words.last}>
      <h2>{words.last}</h2>
      <p class="quiet">{words.of[reachOf("readRequests")]}</p>
      <Answered of={logs} height={200}>
        {({ logs: rows }) => (rows.length === 0 ? <p class="quiet">{words.none}</p> : <Table rows={rows} />)}
      </Answered>
      {reachesOthers("readRequests") && (
        <a class="button" href={placeOf("requests")}>
          {words.allRequests}
        </a>
      )}
    </section>
  )
}
