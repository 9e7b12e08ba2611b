// The colours of pages and pictures, for light and dark surroundings.

export type Colours = Readonly<
  Record<
    | 'back'
    | 'card'
    | 'ink'
    | 'dim'
    | 'line'
    | 'zero'
    | 'gain'
    | 'gain-bar'
    | 'loss'
    | 'loss-bar'
    | 'accent'
    | 'glow',
    string
  >
>;

export const palette: Readonly<Record<'light' | 'dark', Colours>> = {
  light: {
    back: '#f6f5f1',
    card: '#fff',
    ink: '#16181b',
    dim: '#575d66',
    line: '#e2dfd7',
    zero: '#8f949c',
    gain: '#0a7355',
    'gain-bar': '#12946f',
    loss: '#ad3d1c',
    'loss-bar': '#dc6434',
    accent: '#2449b8',
    glow: '#2449b81f',
  },
  dark: {
    back: '#0f1114',
    card: '#171a1f',
    ink: '#eeece6',
    dim: '#a5abb4',
    line: '#2c3038',
    zero: '#6d747e',
    gain: '#52cda5',
    'gain-bar': '#2fae87',
    loss: '#ff9c76',
    'loss-bar': '#e8754a',
    accent: '#9cb6ff',
    glow: '#9cb6ff26',
  },
};

/** `--back:#f6f5f1;--card:#fff;…`, for a rule of a style sheet. */
export function customProperties(colours: Colours): string {
  return Object.entries(colours)
    .map(([name, value]) => `--${name}:${value}`)
    .join(';');
}

/** Accepts colour names and hexadecimal colours only, because other CSS values could load a resource. */
export function safeColour(colour: string): string {
  return /^(#[0-9a-f]{3,8}|[a-z]{3,20})$/i.test(colour) ? colour : 'gray';
}
