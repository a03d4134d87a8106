#!/usr/bin/perl
#
# meta.pl
#	  Check META.json against the PGXN Meta Spec 1.0.0, and against the tree.
#
# Prints one line for each finding, and nothing if there is none.  Called by
# run.sh, from the top of the source tree.
#
# test/lint/meta.pl

use strict;
use warnings;
use JSON::PP;

my @found;

sub read_file
{
	my ($file) = @_;

	open(my $in, '<:raw', $file) or die "META.json: could not open $file: $!\n";
	local $/;
	my $content = <$in>;
	close($in);
	return $content;
}

sub complain
{
	push @found, "META.json: $_[0]";
	return;
}

# What a value has to look like: each returns true if it does.
sub is_string { return defined $_[0] && !ref $_[0] && $_[0] ne '' }
sub is_term { return is_string($_[0]) && length $_[0] >= 2 && $_[0] !~ m{[[:space:][:cntrl:]/\\]} }
sub is_tag { return is_string($_[0]) && length $_[0] <= 256 && $_[0] !~ m{[[:cntrl:]/\\]} }
sub is_url { return is_string($_[0]) && $_[0] =~ m{^[a-z][a-z+.-]*://[^/]+} }
sub is_file { return is_string($_[0]) && -f $_[0] }

sub is_version
{
	my $number = qr/(?:0|[1-9]\d*)/;

	return is_string($_[0]) && $_[0] =~ /^$number\.$number\.$number(?:-?[a-z][a-z0-9.-]*)?$/i;
}

# "0" stands for every version.
sub is_range
{
	my ($range) = @_;

	return 0 unless defined $range && !ref $range;
	foreach my $part (split(/\s*,\s*/, $range, -1))
	{
		return 0 unless $part eq '0' || is_version($part =~ s/^(?:[<>]=?|==|!=)\s*//r);
	}
	return $range ne '';
}

sub is_list_of
{
	my ($check, $value) = @_;
	my @values = ref $value eq 'ARRAY' ? @$value : ($value);

	return @values > 0 && !grep { !$check->($_) } @values;
}

my $license = qr/^(?:agpl_3|apache_1_1|apache_2_0|artistic_1|artistic_2|bsd|freebsd|gfdl_1_[23]|gpl_[123]|lgpl_2_1|lgpl_3_0|mit|mozilla_1_[01]|openssl|perl_5|postgresql|qpl_1_0|ssleay|sun|zlib|open_source|restricted|unrestricted|unknown)$/;

sub is_license
{
	my ($value) = @_;

	return is_list_of(sub { is_string($_[0]) && $_[0] =~ $license }, $value) if ref $value ne 'HASH';
	return %$value && !grep { !is_url($_) } values %$value;
}

# Check the keys of a map: the required ones, then those that may be there.
sub check_map
{
	my ($where, $map, $required, $optional) = @_;

	if (ref $map ne 'HASH')
	{
		complain("$where is no map");
		return 0;
	}
	foreach my $key (sort keys %$required)
	{
		complain("$where has no \"$key\"") unless exists $map->{$key};
	}
	foreach my $key (sort keys %$map)
	{
		my $check = $required->{$key} // $optional->{$key};

		next if !$check && $key =~ /^x_/i;
		complain("$where has an unknown key \"$key\"") if !$check;
		complain("\"$key\" of $where is not valid") if $check && !$check->($map->{$key});
	}
	return 1;
}

sub check_prereqs
{
	my ($prereqs) = @_;
	my %phase = map { $_ => sub { ref $_[0] eq 'HASH' } } qw(configure build test runtime develop);
	my %relation = map { $_ => sub { ref $_[0] eq 'HASH' } } qw(requires recommends suggests conflicts);

	check_map('prereqs', $prereqs, {}, \%phase) or return;
	foreach my $phase (grep { ref $prereqs->{$_} eq 'HASH' } sort keys %$prereqs)
	{
		check_map("prereqs.$phase", $prereqs->{$phase}, {}, \%relation);
		foreach my $wanted (grep { ref eq 'HASH' } values %{ $prereqs->{$phase} })
		{
			foreach my $name (sort keys %$wanted)
			{
				complain("prereqs.$phase: \"$name\" is not valid")
				  unless is_term($name) && is_range($wanted->{$name});
			}
		}
	}
	return;
}

# The extension that is provided is the one of the control file.  That its
# versions are those of other files is checked by rules.pl.
sub check_tree
{
	my ($meta) = @_;
	my ($name) = glob('*.control') =~ /^(.*)\.control$/;
	my ($version) = read_file("$name.control") =~ /^default_version\s*=\s*'([^']+)'/m;
	my $provided = $meta->{provides}{$name};

	complain("name is not $name") unless ($meta->{name} // '') eq $name;
	complain("does not provide $name from src/$name.sql")
	  unless ref $provided eq 'HASH' && ($provided->{file} // '') eq "src/$name.sql";
	return;
}

my $meta = eval { decode_json(read_file('META.json')) };

if (ref $meta ne 'HASH')
{
	print 'META.json: ' . ($@ || "no map\n");
	exit 1;
}
check_map(
	'META.json', $meta,
	{
		'abstract'   => \&is_string,
		'license'    => \&is_license,
		'maintainer' => sub { is_list_of(\&is_string, @_) },
		'meta-spec'  => sub { ref $_[0] eq 'HASH' },
		'name'       => \&is_term,
		'provides'   => sub { ref $_[0] eq 'HASH' && %{ $_[0] } },
		'version'    => \&is_version
	},
	{
		'description'    => \&is_string,
		'generated_by'   => \&is_string,
		'no_index'       => sub { ref $_[0] eq 'HASH' },
		'prereqs'        => sub { ref $_[0] eq 'HASH' },
		'release_status' => sub { is_string($_[0]) && $_[0] =~ /^(?:stable|testing|unstable)$/ },
		'resources'      => sub { ref $_[0] eq 'HASH' },
		'tags'           => sub { is_list_of(\&is_tag, @_) }
	});
check_map('meta-spec', $meta->{'meta-spec'} // {}, { version => sub { is_string($_[0]) && $_[0] eq '1.0.0' } },
	{ url => \&is_url });
foreach my $name (ref $meta->{provides} eq 'HASH' ? sort keys %{ $meta->{provides} } : ())
{
	complain("provides: \"$name\" is no term") unless is_term($name);
	check_map(
		"provides.$name", $meta->{provides}{$name},
		{ file     => \&is_file, version => \&is_version },
		{ abstract => \&is_string, docfile => \&is_file });
}
check_prereqs($meta->{prereqs}) if exists $meta->{prereqs};
check_tree($meta);
print "$_\n" foreach @found;
exit(@found ? 1 : 0);
