/** Where it is shown what is said of sign-ins at providers (docs/sign-in.md). */
import { type StatementRow, statement } from "./Statement.ts"

const signIn = "test/http/management/signIn.test.ts"

export const signInRows: ReadonlyArray<StatementRow> = [
  statement("`NEXT_PUBLIC_BASE_URL`, else `GATEWAY_PUBLIC_URL`, is where browsers come back to", [
    "test/unit/platform/AppConfig.test.ts",
    "browsers come back from a sign-in to an address of its own, else to the public one, else not at all"
  ]),
  statement("`GET /api/oauth/{provider}/callback` takes the code of a sign-in by its state, once", [
    signIn,
    "lets the browser bring the code where a public address is set, once, and tells who began it",
    "tells a refusal of the provider to the browser and to who began it, and asks for no tokens without a code",
    "slows down who comes with states that are made up, and nobody else; what is over makes room"
  ]),
  statement("A provider's page may lead there while no key is required, and nowhere else", [
    "test/http/doors/foreignSites.test.ts",
    "one page may be visited from another site, where providers send browsers back, and nothing else of it"
  ]),
  statement("Without a public address the code is pasted", [
    signIn,
    "exchanges a pasted address for tokens by PKCE, once, and stores them as a connection",
    "takes no browser where no public address is set, and says where a client is got"
  ])
]
