/** Chooses a strategy among all of them, each with what it does. */
import { strategies, type Strategy, words } from "../../../words/routing.ts"

const names = Object.keys(strategies) as ReadonlyArray<Strategy>

interface Properties {
  readonly value: Strategy
  readonly onValue: (strategy: Strategy) => void
}

export const StrategyField = ({ onValue, value }: Properties) => (
  <fieldset class="group">
    <legend>{words.combo.strategy}</legend>
    <p>
      <strong>{value}</strong> {strategies[value]}
    </p>
    <details>
      <summary>{words.combo.change}</summary>
      <div class="strategies">
        {names.map((name) => (
          <label key={name} class="choice">
            <input type="radio" name="strategy" value={name} checked={name === value} onChange={() => onValue(name)} />
            <span>
              <strong>{name}</strong> <span class="quiet">{strategies[name]}</span>
            </span>
          </label>
        ))}
      </div>
    </details>
  </fieldset>
)
