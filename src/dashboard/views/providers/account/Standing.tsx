/** Says whether an account is used, why not and until when, with all that is held against it. */
import { resilienceBreakers, resilienceClearCooldowns, resilienceModelCooldowns } from "../../../api/calls.generated.ts"
import { useAnswer } from "../../../api/queries.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { Countdown } from "../../../ui/time/Countdown.tsx"
import { State } from "../../../ui/State.tsx"
import { CopyAs } from "../../../ui/copy/CopyAs.tsx"
import { clockTime, nowMs, visible } from "../../../ui/format.ts"
import { words } from "../../../words/account.ts"
import { letGoOn } from "../actions.ts"
import { ConnectionState } from "../ConnectionState.tsx"
import { type Connection, nameOf, standingOf } from "../names.ts"
import { BreakerPause, isPausing, LockPause, Pause } from "../pauses/Pause.tsx"

const isEnding = (status: string): status is keyof typeof words.endings => Object.hasOwn(words.endings, status)

const Sentence = ({ connection }: { readonly connection: Connection }) => {
  const { backoffLevel, rateLimitedUntil, testStatus } = connection
  switch (standingOf(connection, nowMs())) {
    case "inactive":
      return <p>{words.off}</p>
    case "terminal":
      return <p>{isEnding(testStatus) ? words.endings[testStatus] : ""}</p>
    case "cooling":
      return rateLimitedUntil === null ? null : (
        <p>
          {words.restsUntil} <Countdown until={rateLimitedUntil} /> ({words.untilAt} {clockTime(rateLimitedUntil)}
          {backoffLevel > 0 && `, ${words.failures(backoffLevel)}`})
        </p>
      )
    case "available":
      return <p>{testStatus === "unknown" ? words.untried : words.works}</p>
  }
}

/** Shows the state of the account itself, with the reason. */
const Own = ({ connection }: { readonly connection: Connection }) => {
  const standing = standingOf(connection, nowMs())
  const why = (
    <>
      <ConnectionState connection={connection} />
      <Sentence connection={connection} />
      {connection.lastError !== null && (
        <p class="last-error">
          <span class="quiet">{words.lastError}:</span> {visible(connection.lastError.slice(0, 2_000))}{" "}
          {connection.errorCode !== null && <code>{visible(connection.errorCode)}</code>}
        </p>
      )}
    </>
  )
  return standing === "cooling" || standing === "terminal" ? (
    <Pause name={nameOf(connection)} letGo={() => letGoOn(connection)}>
      {why}
    </Pause>
  ) : (
    <li class="pause">
      <div class="pause-why">{why}</div>
    </li>
  )
}

export const Standing = ({ connection }: { readonly connection: Connection }) => {
  const held = useAnswer({
    key: ["pauses", "of", connection.id],
    ask: async (signal) => {
      const [{ breakers }, { items }] = await Promise.all([
        resilienceBreakers({ signal }),
        resilienceModelCooldowns({ signal })
      ])
      return {
        atMs: nowMs(),
        breaker: breakers.find((each) => each.provider === connection.provider && isPausing(each)),
        locks: items.filter(({ connectionId }) => connectionId === connection.id)
      }
    }
  })
  return (
    <section class="card stack" aria-labelledby="standing">
      <h2 id="standing">{words.state}</h2>
      <ul class="pauses">
        <Own connection={connection} />
        <Answered of={held} height={32}>
          {({ atMs, breaker, locks }) => (
            <>
              {breaker !== undefined && <BreakerPause breaker={breaker} atMs={atMs} />}
              {locks.map((lock) => (
                <LockPause key={lock.model} lock={lock} />
              ))}
              {breaker === undefined && locks.length === 0 && (
                <li class="pause">
                  <State kind="quiet">{words.nothingHeld}</State>
                </li>
              )}
            </>
          )}
        </Answered>
      </ul>
      <CopyAs call={resilienceClearCooldowns} body={{ connectionId: connection.id }} />
    </section>
  )
}
