from django.contrib.postgres.fields import ArrayField
from django.db import models
from pg_ulid.django import GenUlid, UlidField


class Customer(models.Model):
    id = UlidField(primary_key=True, native=False, db_default=GenUlid())
    name = models.TextField()

    class Meta:
        db_table = "customer"


class Order(models.Model):
    id = UlidField(primary_key=True, native=False, db_default=GenUlid())
    customer = models.ForeignKey(Customer, models.CASCADE, null=True, blank=True, related_name="orders")
    note = models.TextField(null=True, blank=True)
    related = ArrayField(UlidField(native=False), null=True, blank=True)

    class Meta:
        db_table = "orders"
