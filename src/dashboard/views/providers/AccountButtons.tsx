/** Buttons of an account, in its row and on its page: test it, turn it off or on. */
import { useWork } from "../../ui/useWork.ts"
import { words } from "../../words/providers.ts"
import { ofAccounts, testAccount, turnAccount } from "./actions.ts"
import type { Connection } from "./names.ts"

interface Properties {
  readonly connection: Connection
  /** The test is what is done here most. */
  readonly isMain?: boolean
}

export const AccountButtons = ({ connection, isMain = false }: Properties) => {
  const { isBusy, run } = useWork(ofAccounts)
  return (
    <>
      <button
        type="button"
        class={isMain ? "button main-action" : "button"}
        disabled={isBusy.value}
        onClick={() => void run(() => testAccount(connection))}
      >
        {isBusy.value ? words.testing : words.test}
      </button>
      {connection.source === "db" && (
        <button
          key={connection.isActive ? "off" : "on"}
          type="button"
          class="button"
          disabled={isBusy.value}
          onClick={() => void run(() => turnAccount(connection, !connection.isActive))}
        >
          {connection.isActive ? words.turnOff : words.turnOn}
        </button>
      )}
    </>
  )
}
