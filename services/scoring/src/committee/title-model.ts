// The role that an English title says: a fixed table of words. Pure.
import type { CommitteeRole } from '@lead-scoring/contracts';

/** What abbreviations stand for. A full stop within one is left out before: "V.P." is "vp". */
const abbreviations: Readonly<Record<string, string>> = {
  avp: 'assistant vice president',
  bdr: 'business development representative',
  ceo: 'chief executive officer',
  cfo: 'chief financial officer',
  chro: 'chief human resources officer',
  cio: 'chief information officer',
  ciso: 'chief information security officer',
  clo: 'chief legal officer',
  cmo: 'chief marketing officer',
  coo: 'chief operating officer',
  cpo: 'chief product officer',
  cro: 'chief revenue officer',
  cto: 'chief technology officer',
  dba: 'database administrator',
  dev: 'developer',
  dir: 'director',
  dpo: 'data protection officer',
  eng: 'engineer',
  evp: 'executive vice president',
  fpa: 'financial planning',
  gc: 'general counsel',
  gm: 'general manager',
  mgr: 'manager',
  sdr: 'sales development representative',
  sre: 'site reliability engineer',
  svp: 'senior vice president',
  swe: 'software engineer',
  vp: 'vice president',
};

interface TitleWords {
  readonly role: CommitteeRole;
  /** Words that follow each other in the title. */
  readonly words: readonly string[];
}

/**
 * The first line that has its words in the title decides. Lines of exceptions come first, then those who found or lead the whole
 * company, then functions, then ranks: a VP Finance is finance, a founder and CTO decides.
 */
export const titleTable: readonly TitleWords[] = [
  { role: 'user', words: ['assistant to', 'executive assistant', 'personal assistant', 'office assistant'] },
  { role: 'user', words: ['security guard', 'quality controller', 'media buyer', 'account executive'] },
  { role: 'user', words: ['help desk', 'service desk', 'customer support', 'technical support'] },
  {
    role: 'user',
    words: ['legal assistant', 'legal secretary', 'accounting assistant', 'sales operations analyst'],
  },
  { role: 'champion', words: ['product owner', 'process owner', 'business partner', 'partner manager'] },
  { role: 'champion', words: ['chief of staff', 'assistant vice president', 'associate director'] },
  {
    role: 'decision_maker',
    words: ['chief executive', 'founder', 'cofounder', 'owner', 'co owner', 'proprietor'],
  },
  {
    role: 'legal',
    words: ['chief legal', 'counsel', 'attorney', 'lawyer', 'solicitor', 'legal', 'paralegal'],
  },
  {
    role: 'legal',
    words: ['compliance', 'data protection', 'privacy', 'contract manager', 'contracts manager'],
  },
  {
    role: 'finance',
    words: ['chief financial', 'finance', 'financial', 'accountant', 'accounting', 'accounts payable'],
  },
  {
    role: 'finance',
    words: ['accounts receivable', 'controller', 'comptroller', 'treasurer', 'treasury', 'auditor'],
  },
  { role: 'finance', words: ['bookkeeper', 'payroll', 'tax'] },
  {
    role: 'procurement',
    words: ['procurement', 'purchasing', 'purchaser', 'sourcing', 'buyer', 'vendor manager'],
  },
  { role: 'procurement', words: ['vendor management', 'category manager', 'supply chain'] },
  { role: 'technical', words: ['chief technology', 'chief technical', 'chief information', 'chief data'] },
  {
    role: 'technical',
    words: ['engineer', 'engineering', 'developer', 'programmer', 'architect', 'devops', 'technology'],
  },
  {
    role: 'technical',
    words: ['it', 'information technology', 'information systems', 'information security', 'security'],
  },
  {
    role: 'technical',
    words: ['infrastructure', 'software', 'systems administrator', 'system administrator', 'sysadmin'],
  },
  {
    role: 'technical',
    words: ['database administrator', 'network administrator', 'data scientist', 'tech lead', 'technical'],
  },
  {
    role: 'decision_maker',
    words: ['chief', 'vice president', 'president', 'managing director', 'executive director'],
  },
  {
    role: 'decision_maker',
    words: ['director', 'general manager', 'managing partner', 'partner', 'head of', 'head'],
  },
  { role: 'decision_maker', words: ['chairman', 'chairwoman', 'chair', 'board member', 'principal'] },
  {
    role: 'champion',
    words: ['manager', 'lead', 'leader', 'team lead', 'supervisor', 'consultant', 'advisor', 'adviser'],
  },
  { role: 'champion', words: ['evangelist', 'strategist', 'senior analyst', 'foreman'] },
  {
    role: 'user',
    words: ['analyst', 'specialist', 'coordinator', 'associate', 'assistant', 'representative', 'clerk'],
  },
  {
    role: 'user',
    words: ['administrator', 'operator', 'technician', 'agent', 'officer', 'executive', 'planner'],
  },
  {
    role: 'user',
    words: ['designer', 'writer', 'editor', 'researcher', 'scientist', 'recruiter', 'trainer', 'teacher'],
  },
  {
    role: 'user',
    words: ['intern', 'trainee', 'apprentice', 'student', 'secretary', 'receptionist', 'nurse', 'user'],
  },
];

export interface TitleRole {
  readonly role: CommitteeRole;
  /** The words of the table that are in the title. */
  readonly matched: string;
}

/** null: the title says no role of the table. Its cost is proportional to the length of the title. */
export function roleOfTitle(title: string): TitleRole | null {
  const found = ` ${wordsOf(title).join(' ')} `;
  for (const { role, words } of titleTable)
    for (const matched of words) if (found.includes(` ${matched} `)) return { role, matched };
  return null;
}

/** Lower case, without accents and punctuation, abbreviations written out. */
function wordsOf(title: string): string[] {
  return title
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f.'’]/g, '')
    .replaceAll('fp&a', 'fpa')
    .split(/[^a-z0-9]+/)
    .map((word) => (Object.hasOwn(abbreviations, word) ? (abbreviations[word] ?? word) : word));
}
