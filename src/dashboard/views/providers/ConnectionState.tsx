/** The state of an account in a word, with the time left where it rests. */
import { Countdown } from "../../ui/time/Countdown.tsx"
import { State } from "../../ui/State.tsx"
import { nowMs } from "../../ui/format.ts"
import { words } from "../../words/providers.ts"
import { renewAccounts } from "./actions.ts"
import { type Connection, standingOf } from "./names.ts"

export const ConnectionState = ({
  connection
}: {
  readonly connection: Pick<Connection, "isActive" | "testStatus" | "rateLimitedUntil">
}) => {
  const { rateLimitedUntil, testStatus } = connection
  switch (standingOf(connection, nowMs())) {
    case "inactive":
      return <State kind="quiet">{words.states.off}</State>
    case "terminal":
      return <State kind="bad">{words.states[testStatus]}</State>
    case "cooling":
      return (
        <State kind="warning" icon="wait">
          <span>
            {words.states.resting}{" "}
            {rateLimitedUntil !== null && <Countdown until={rateLimitedUntil} onOver={renewAccounts} />}
          </span>
        </State>
      )
    case "available":
      return testStatus === "unknown" ? (
        <State kind="quiet" icon="wait">
          {words.states.unknown}
        </State>
      ) : (
        <State kind="good">{words.states.active}</State>
      )
  }
}
