/** One account: its state with why and until when, its quotas and models, its way out, and what can be changed of it. */
import { useLocation } from "preact-iso"
import { useCallback } from "preact/hooks"
import { providersGet, providersRemove, providersTest } from "../../../api/calls.generated.ts"
import { loadProviders } from "../../../api/manifest.ts"
import { queries, renew, useAnswer } from "../../../api/queries.ts"
import { useFeed } from "../../../live/feed.ts"
import { Answered } from "../../../ui/Answered.tsx"
import { CopyAs } from "../../../ui/copy/CopyAs.tsx"
import { DangerButton } from "../../../ui/parts/DangerButton.tsx"
import type { Version } from "../../../ui/merge/saving.ts"
import { visible } from "../../../ui/format.ts"
import { placeOf } from "../../../ui/address/places.ts"
import { toast } from "../../../ui/toasts.tsx"
import { words } from "../../../words/account.ts"
import { words as common } from "../../../words/providers.ts"
import { AccountButtons } from "../AccountButtons.tsx"
import { renewAccounts } from "../actions.ts"
import { type Connection, nameOf } from "../names.ts"
import { SignIn } from "../signIn/SignIn.tsx"
import { Edit } from "./Edit.tsx"
import { Facts } from "./Facts.tsx"
import { AccountModels } from "./AccountModels.tsx"
import { Proxy } from "./Proxy.tsx"
import { AccountQuotas } from "./Quotas.tsx"
import { Standing } from "./Standing.tsx"

const Head = ({ connection, part }: { readonly connection: Connection; readonly part: string | undefined }) => {
  const place = `providers/${encodeURIComponent(connection.id)}`
  const filter = encodeURIComponent(`account:${connection.id}`)
  return (
    <header class="view-head">
      <div>
        <p>
          <a href={placeOf("providers")}>{common.back}</a>
        </p>
        <h1>{nameOf(connection)}</h1>
      </div>
      <div class="buttons">
        <AccountButtons connection={connection} isMain />
        {connection.source === "db" && (
          <a
            class="button"
            aria-current={part === "edit" ? "true" : undefined}
            href={placeOf(part === "edit" ? place : `${place}/edit`)}
          >
            {part === "edit" ? words.edit.close : words.edit.title}
          </a>
        )}
        <a class="button" href={placeOf(`requests?q=${filter}`)}>
          {words.requests}
        </a>
      </div>
    </header>
  )
}

/** Signs the account in again, where its provider can. */
const Again = ({ connection }: { readonly connection: Connection }) => {
  const { route } = useLocation()
  const providers = useAnswer({ key: ["manifest"], ask: loadProviders })
  return (
    <section class="card stack" aria-labelledby="sign-in">
      <h2 id="sign-in">{words.signIn.again}</h2>
      <Answered of={providers} height={160}>
        {(all) => {
          const how = all.find(({ id }) => id === connection.provider)?.signIn ?? null
          return how === null ? (
            <p class="quiet">{words.signIn.notHere}</p>
          ) : (
            <SignIn
              provider={connection.provider}
              how={how}
              connectionId={connection.id}
              onConnected={() => {
                toast("good", words.signIn.done(nameOf(connection)))
                renewAccounts()
                route(placeOf(`providers/${encodeURIComponent(connection.id)}`))
              }}
            />
          )
        }}
      </Answered>
    </section>
  )
}

const Remove = ({ connection }: { readonly connection: Connection }) => {
  const { route } = useLocation()
  const name = nameOf(connection)
  return (
    <DangerButton
      verb={words.remove.verb}
      title={words.remove.title(name)}
      means={words.remove.means(name)}
      name={connection.name === "" ? connection.provider : connection.name}
      run={async () => {
        await providersRemove({ path: { id: connection.id } })
        toast("good", words.remove.done(name))
        queries.removeQueries({ queryKey: ["connection", connection.id] })
        route(placeOf("providers"))
        renewAccounts()
      }}
    />
  )
}

const Shown = ({ part, version }: { readonly version: Version<Connection>; readonly part: string | undefined }) => {
  const connection = version.value
  return (
    <>
      <Head connection={connection} part={part} />
      {part === "sign-in" && <Again connection={connection} />}
      {part === "edit" && <Edit version={version} />}
      <div class="account-split">
        <Standing connection={connection} />
        <Facts connection={connection} />
      </div>
      <AccountQuotas connectionId={connection.id} />
      <AccountModels connection={connection} />
      <Proxy connection={connection} />
      <div class="account-end">
        <CopyAs call={providersTest} path={{ id: connection.id }} />
        {connection.source === "db" && <Remove connection={connection} />}
      </div>
    </>
  )
}

export const Account = ({ id, part }: { readonly id: string; readonly part: string | undefined }) => {
  const connection = useAnswer({
    key: ["connection", id],
    ask: async (signal): Promise<Version<Connection>> => {
      const { answer, tag } = await providersGet.versioned({ path: { id }, signal })
      return { value: answer.connection, tag }
    }
  })
  useFeed(
    "health",
    useCallback(() => {
      void renew("connection")
      void renew("pauses", "of")
    }, [])
  )
  return (
    <div class="stack account">
      {connection.value.data === undefined && (
        <header class="view-head">
          <div>
            <p>
              <a href={placeOf("providers")}>{common.back}</a>
            </p>
            <h1>{visible(id)}</h1>
          </div>
        </header>
      )}
      <Answered of={connection} height={400}>
        {(version) => <Shown key={id} version={version} part={part} />}
      </Answered>
    </div>
  )
}
