// The roles of titles, as a table of titles.
import { describe, expect, test } from '@jest/globals';
import type { CommitteeRole } from '@lead-scoring/contracts';
import fc from 'fast-check';
import { roleOfTitle, titleTable } from './title-model.js';

const titles: Readonly<Record<CommitteeRole, readonly string[]>> = {
  decision_maker: [
    'CEO',
    'C.E.O.',
    'Chief Executive Officer',
    'Founder & CEO',
    'Co-Founder',
    'co-founder and CTO',
    'Business Owner',
    'President',
    'VP Sales',
    'V.P. of Marketing',
    'SVP, Customer Success',
    'Executive Vice President',
    'COO',
    'Chief Revenue Officer',
    'Director of Marketing',
    'Dir. Operations',
    'Managing Director',
    'Head of Growth',
    'Marketing Head',
    'Managing Partner',
    'Partner',
    'General Manager',
    'GM',
    'HR Director',
  ],
  champion: [
    'Marketing Manager',
    'Sr. Mgr, Sales Operations',
    'Team Lead',
    'Product Owner',
    'Chief of Staff',
    'HR Business Partner',
    'Partner Manager',
    'Senior Consultant',
    'Shift Supervisor',
    'AVP Retail Banking',
    'Associate Director',
    'Growth Strategist',
  ],
  finance: [
    'CFO',
    'VP Finance',
    'Finance Director',
    'Financial Controller',
    'Accountant',
    'Head of Accounting',
    'Accounts Payable Clerk',
    'Treasurer',
    'FP&A Manager',
    'Tax Manager',
    'Internal Auditor',
  ],
  technical: [
    'CTO',
    'Chief Technology Officer',
    'CIO',
    'CISO',
    'VP Engineering',
    'VP of Engineering',
    'Software Engineer',
    'Sr. Software Eng.',
    'Full-Stack Developer',
    'Node.js Developer',
    'Solutions Architect',
    'IT Manager',
    'Director of IT',
    'Systems Administrator',
    'DevOps Lead',
    'SRE',
    'Data Scientist',
    'Head of Information Security',
    'Ingénieur / Engineer',
  ],
  legal: [
    'General Counsel',
    'GC',
    'Chief Legal Officer',
    'Head of Legal',
    'Attorney at Law',
    'Compliance Officer',
    'Data Protection Officer',
    'DPO',
    'VP Legal & Compliance',
    'Contracts Manager',
  ],
  procurement: [
    'Procurement Manager',
    'Head of Procurement',
    'Purchasing Agent',
    'Strategic Sourcing Lead',
    'Senior Buyer',
    'Supply Chain Director',
  ],
  user: [
    'Analyst',
    'Marketing Specialist',
    'Sales Development Representative',
    'SDR',
    'Account Executive',
    'Executive Assistant to the CEO',
    'Assistant to the CFO',
    'Project Coordinator',
    'Media Buyer',
    'Security Guard',
    'Technical Support Engineer',
    'Graphic Designer',
    'Intern',
    'Student',
  ],
};

describe.each(Object.entries(titles))('%s is the role of', (role, ofRole) => {
  test.each(ofRole)('%s', (title) => {
    expect(roleOfTitle(title)?.role).toBe(role);
  });
});

describe('no role is said by', () => {
  // Words that contain those of the table, titles in other languages, and texts that are no titles.
  test.each([
    '',
    ' ',
    'Housewife',
    'Geschäftsführer',
    'Vice',
    'Bit',
    'Leadership',
    'Partnerships',
    '???',
    'x'.repeat(200),
    'constructor',
    '__proto__',
  ])('%j', (title) => {
    expect(roleOfTitle(title)).toBeNull();
  });
});

test('the words that decided are named, abbreviations written out', () => {
  expect(roleOfTitle('S.V.P. Sales')).toEqual({ role: 'decision_maker', matched: 'vice president' });
  expect(roleOfTitle('Dir. of IT')).toEqual({ role: 'technical', matched: 'it' });
  expect(roleOfTitle('CFO')).toEqual({ role: 'finance', matched: 'chief financial' });
});

test('every word of the table decides by itself, or something further up does', () => {
  for (const { words } of titleTable)
    for (const word of words) expect([word, roleOfTitle(word)?.role]).toEqual([word, expect.any(String)]);
  const all = titleTable.flatMap(({ words }) => words);
  expect(new Set(all).size).toBe(all.length);
});

test('case, accents, punctuation and white space around words make no difference', () => {
  const known = fc.constantFrom(...Object.values(titles).flat());
  const between = fc.constantFrom(' ', '  ', ', ', ' - ', ' / ', '\t', ' | ');
  fc.assert(
    fc.property(known, between, fc.boolean(), (title, gap, upper) => {
      const written = title.split(' ').join(gap);
      expect(roleOfTitle(`${gap}${upper ? written.toUpperCase() : written.toLowerCase()}${gap}`)).toEqual(
        roleOfTitle(title),
      );
    }),
  );
});

test('any text is read, and no text throws', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (title) => {
      const found = roleOfTitle(title);
      expect(found === null || typeof found.matched === 'string').toBe(true);
    }),
  );
});
