/** The tunnel with an address of its own at every start, without an account. */
import { useSignal } from "@preact/signals"
import { tunnelsSetQuick } from "../../../api/calls.generated.ts"
import { type Tunnel, TunnelCard } from "./Card.tsx"

export const QuickTunnel = ({ tunnel }: { readonly tunnel: Tunnel }) => {
  const allowKeyless = useSignal(false)
  return (
    <TunnelCard
      tunnel={tunnel}
      allowKeyless={allowKeyless}
      open={() => tunnelsSetQuick({ body: { action: "enable", allowKeyless: allowKeyless.value } })}
      close={() => tunnelsSetQuick({ body: { action: "disable" } })}
    />
  )
}
